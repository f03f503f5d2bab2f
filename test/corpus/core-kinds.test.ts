import { describe, expect, it } from "vitest";
import { Admission } from "../../src/api/admission.ts";
import { karpenterKinds } from "../../src/api/kinds/karpenter-kinds.ts";
import type { Provider } from "../../src/api/label-policy.ts";
import type { Problem } from "../../src/api/problem.ts";
import { capacityBufferCases } from "./capacity-buffer.ts";
import { type Case, storedBefore } from "./case.ts";
import { holdsUnder } from "./corpus.ts";
import { boundsOf, isHit } from "./coverage.ts";
import { kwokNodeClassCases } from "./kwok-node-class.ts";
import { nodeClaimCases } from "./node-claim.ts";
import { nodeOverlayCases } from "./node-overlay.ts";
import { nodePoolCases } from "./node-pool.ts";

const admission = new Admission("all");

function problemsOf(one: Case): readonly Problem[] {
  const before = storedBefore(one);
  return admission.admit(one.object, { old: before && admission.admit(before).object }).problems;
}

// Bounds that another one of the same field implies: nothing can break them alone. Patterns ask for a first character.
const reason = "status.conditions.*.reason: too-short";
const core = [
  {
    kind: "NodePool",
    cases: nodePoolCases,
    atLeast: 130,
    implied: [
      "spec.template.spec.taints.*.key: too-short",
      "spec.template.spec.startupTaints.*.key: too-short",
      "spec.replicas: too-small", // the scale subresource asks for the same
      "spec.disruption.budgets.*.reasons: too-many", // 51 of three reasons repeat themselves
      reason,
    ],
  },
  {
    kind: "NodeClaim",
    cases: nodeClaimCases,
    atLeast: 37,
    implied: ["spec.taints.*.key: too-short", "spec.startupTaints.*.key: too-short"],
  },
  { kind: "NodeOverlay", cases: nodeOverlayCases, atLeast: 68, implied: [reason] },
  { kind: "CapacityBuffer", cases: capacityBufferCases, atLeast: 18, implied: [reason] },
  { kind: "KWOKNodeClass", cases: kwokNodeClassCases, atLeast: 1, implied: [reason] },
] as const;

describe.each(core)("the $kind part of the corpus", ({ kind, cases, atLeast, implied }) => {
  const ours = cases.filter((one) => holdsUnder(one, "all"));

  it(`01 §8 has at least upstream's ${atLeast} cases`, () => {
    expect(ours.length).toBeGreaterThanOrEqual(atLeast);
  });

  it("refuses for the reason in the title", () => {
    const refused = ours.filter(({ verdict }) => verdict === "refuse");
    expect(refused.filter((one) => !isAsTitled(one, problemsOf(one))).map(({ title }) => title)).toEqual([]);
  });

  it("breaks each bound and rule alone in some object, so that losing it changes a verdict", () => {
    const found = karpenterKinds.find((one) => one.kind === kind) ?? karpenterKinds[0];
    const schema = admission.schema(found);
    const alone = ours.map(problemsOf).filter(({ length }) => length === 1);
    const missed = boundsOf(found, schema).filter(
      (bound) => !alone.some(([only]) => only !== undefined && isHit(bound, only, schema)),
    );
    expect(missed.map(({ place, code, message }) => `${place}: ${message ?? code}`).sort()).toEqual(
      [...implied].sort(),
    );
  });
});

/** `01:NP13 …` is refused by that rule; `01 §4.1 …` by the schema or a rule the spec gives no number. */
function isAsTitled({ title }: Case, problems: readonly Problem[]): boolean {
  const rule = /^01:[A-Z]+\d+/.exec(title)?.[0];
  if (rule !== undefined) return problems.some((problem) => problem.rule === rule);
  return problems.every((problem) => !/^01:(NP(\d|1\d|20)|CB\d)$/.test(problem.rule ?? ""));
}

describe("the CEL rules of NodePool", () => {
  // Ours has one more than upstream's: the length of the name. (01 §3.1.1)
  const counts: Record<Exclude<Provider, "all">, number> = { kwok: 18 + 1 + 1, aws: 20 + 1, azure: 18 + 6 + 1 };

  it.each(Object.entries(counts))("01 §1.2.1 with provider %s: %i", (provider, count) => {
    const schema = new Admission(provider as Provider).schema(karpenterKinds[0]);
    expect(boundsOf(karpenterKinds[0], schema).filter(({ code }) => code === "rule").length).toBe(count);
  });
});
