import { describe, expect, it } from "vitest";
import { base, change } from "../../test/corpus/case.ts";
import { Admission, admit } from "./admission.ts";

const admission = new Admission("kwok");
const pool = base("NodePool");

/** Verdicts are the corpus' business; this is about what is said beside them. */
describe("admission", () => {
  it("01 §0.1 drops unknown fields in silence, unless the client asked for strictness", () => {
    const odd = change(pool, { "spec.colour": "red", "metadata.shape": "round" });
    expect(admission.admit(odd).problems).toEqual([]);
    expect(
      admission.admit(odd, { strict: true }).problems.map(({ code, path }) => `${path.join(".")}: ${code}`),
    ).toEqual(["metadata.shape: unknown-field", "spec.colour: unknown-field"]);
    expect(admission.admit(odd, { strict: true }).object).toEqual(admission.admit(pool).object);
  });

  it("01 §0.1 asks the rules only after the schema passed, and then names the rule", () => {
    const rule = { "spec.replicas": 1, "spec.weight": 1 };
    expect(admission.admit(change(pool, rule)).problems.map((problem) => problem.rule)).toEqual(["01:NP3"]);
    expect(admission.admit(change(pool, { ...rule, "spec.weight": 0 })).problems.map(({ code }) => code)).toEqual([
      "too-small",
    ]);
  });

  it("01 §0.1 leaves what it was given alone", () => {
    const given = change(pool, { "spec.colour": "red" });
    admission.admit(given);
    expect(given).toEqual(change(pool, { "spec.colour": "red" }));
  });

  it.each<[unknown]>([
    [undefined],
    [null],
    ["text"],
    [[]],
    [{}],
    [{ apiVersion: "karpenter.sh/v1beta1", kind: "NodePool" }],
  ])("01 §1.1 %j is no kind of ours", (object) => {
    expect(admit(object, { provider: "all" }).problems.map(({ code }) => code)).toEqual(["unknown-kind"]);
  });

  it.each<[unknown]>([[null], [[]], ["x"], [undefined]])(
    "01 §0.1 metadata %j is a refusal, not a crash",
    (metadata) => {
      expect(admission.admit({ ...pool, metadata }).problems.length).toBe(1);
    },
  );
});
