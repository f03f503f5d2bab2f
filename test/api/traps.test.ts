import { describe, expect, it } from "vitest";
import { Admission } from "../../src/api/admission.ts";
import { labelPolicy } from "../../src/api/label-policy.ts";
import { reviewNodePool } from "../../src/api/validation/node-pool.ts";
import { parseNillableDurationMs } from "../../src/util/duration.ts";
import { base, change, getAt } from "../corpus/case.ts";

const admission = new Admission("aws");
const policy = labelPolicy("aws");
const pool = base("NodePool");

/** What the two layers say of a pool with one requirement: admission first, the controller afterwards. */
function verdicts(key: string): { admitted: boolean; valid: boolean } {
  const object = change(pool, { "spec.template.spec.requirements": [{ key, operator: "Exists" }] });
  const { problems, object: stored } = admission.admit(object);
  return { admitted: problems.length === 0, valid: reviewNodePool(stored as never, policy).problems.length === 0 };
}

describe("traps where two layers meet", () => {
  it("01 §9.4 consolidateAfter may be left out and is 0s then; Never is a value of its own", () => {
    const stored = (value: unknown) =>
      getAt(
        admission.admit(change(pool, { "spec.disruption.consolidateAfter": value })).object,
        "spec.disruption.consolidateAfter",
      );
    expect(stored(undefined)).toBe("0s");
    expect(stored("Never")).toBe("Never");
    expect([parseNillableDurationMs("0s"), parseNillableDurationMs("Never")]).toEqual([0, "Never"]);
  });

  it.each([
    ["notkarpenter.sh/x", { admitted: false, valid: true }],
    ["foo.karpenter.sh", { admitted: false, valid: true }],
    ["sub.karpenter.sh/x", { admitted: false, valid: false }],
    ["karpenter.k8s.aws/ec2nodeclass", { admitted: true, valid: false }],
    ["karpenter.k8s.aws/instance-cpu", { admitted: true, valid: true }],
    ["example.com/team", { admitted: true, valid: true }],
  ])("01 §9.7 CEL looks at the ending, the controller at the domain: %s", (key, expected) => {
    expect(verdicts(key)).toEqual(expected);
  });
});
