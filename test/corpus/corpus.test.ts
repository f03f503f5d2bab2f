import { describe, expect, it } from "vitest";
import { Admission } from "../../src/api/admission.ts";
import { karpenterKindOf, karpenterKindsOf } from "../../src/api/kinds/karpenter-kinds.ts";
import { type Provider, providers } from "../../src/api/label-policy.ts";
import { isLongTier } from "../runs.ts";
import { type Case, getAt, storedBefore } from "./case.ts";
import { corpus, holdsUnder } from "./corpus.ts";
import { boundsOf, isHit, placesOf } from "./coverage.ts";

/** Tier 1 tries a case that holds under every provider with all of them at once and with one of them, in turn. */
function isTried({ providers: some }: Case, index: number, provider: Provider): boolean {
  return isLongTier || some !== undefined || provider === "all" || provider === single[index % single.length];
}
const single = providers.filter((provider) => provider !== "all");

describe.each(providers)("corpus under provider %s", (provider) => {
  const admission = new Admission(provider);
  const cases = corpus.filter((one, index) => holdsUnder(one, provider) && isTried(one, index, provider));

  it.each(cases)("$title: $verdict", (one) => {
    const { verdict, stored } = one;
    const old = storedBefore(one);
    const before = old === undefined ? undefined : admission.admit(old);
    if (before !== undefined) expect(before.problems, "the stored object must itself be accepted").toEqual([]);
    const admitted = admission.admit(one.object, { old: before?.object });
    if (verdict === "accept") expect(admitted.problems).toEqual([]);
    else expect(admitted.problems).not.toEqual([]);
    for (const [path, value] of Object.entries(stored ?? {})) expect(getAt(admitted.object, path), path).toEqual(value);
  });
});

describe("the corpus", () => {
  it("names the rule in every title, and no title twice", () => {
    const titles = corpus.map(({ title }) => title);
    expect(titles.filter((title) => !/^0\d(:[A-Z]+\d+| §\d)/.test(title))).toEqual([]);
    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
  });
});

describe("the corpus reaches every bound and rule of 01 §1", () => {
  const provider = "all";
  const admission = new Admission(provider);
  const cases = corpus.filter((one) => holdsUnder(one, provider));

  for (const kind of karpenterKindsOf(provider)) {
    const schema = admission.schema(kind);
    const ours = cases.filter(({ object }) => karpenterKindOf(object.apiVersion, object.kind) === kind);
    const refusals = ours
      .filter((one) => one.verdict === "refuse")
      .flatMap(({ object, old }) => admission.admit(object, { old: old && admission.admit(old).object }).problems);
    const places = ours
      .filter((one) => one.verdict === "accept")
      .map(({ object }) => placesOf(admission.admit(object).object, schema));

    it(`${kind.kind}: each refused at least once`, () => {
      const missed = boundsOf(kind, schema).filter(
        (bound) => !refusals.some((problem) => isHit(bound, problem, schema)),
      );
      expect(missed).toEqual([]);
    });

    it(`${kind.kind}: each passed at least once`, () => {
      const parent = (place: string): string => place.split(".").slice(0, -1).join(".");
      const missed = boundsOf(kind, schema).filter(
        ({ place, code }) => !places.some((seen) => seen.has(code === "duplicate-item" ? parent(place) : place)),
      );
      expect(missed).toEqual([]);
    });
  }
});
