import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/runs.ts";
import type { Toleration } from "../api/kubernetes/pod.ts";
import type { Taint } from "../api/labels.ts";
import {
  describeUntoleratedTaints,
  firstUntoleratedTaint,
  formatTaint,
  tolerates,
  untoleratedTaints,
  withPreferNoScheduleToleration,
} from "./tolerations.ts";

const gpu: Taint = { key: "dedicated", value: "gpu", effect: "NoSchedule" };
const rank = (value: string): Taint => ({ key: "rank", value, effect: "NoSchedule" });

describe("tolerates", () => {
  const cases: readonly [title: string, toleration: Toleration, taint: Taint, expected: boolean][] = [
    ["the same key, value and effect", { key: "dedicated", value: "gpu", effect: "NoSchedule" }, gpu, true],
    ["Equal is what no operator means", { key: "dedicated", operator: "Equal", value: "gpu" }, gpu, true],
    ["another value", { key: "dedicated", value: "cpu" }, gpu, false],
    ["another key", { key: "other", operator: "Exists" }, gpu, false],
    ["another effect", { key: "dedicated", operator: "Exists", effect: "NoExecute" }, gpu, false],
    ["no effect means all", { key: "dedicated", operator: "Exists" }, { ...gpu, effect: "NoExecute" }, true],
    ["no key and Exists means everything", { operator: "Exists" }, gpu, true],
    ["no key, one effect", { operator: "Exists", effect: "NoExecute" }, gpu, false],
    ["no value equals no value", { key: "a" }, { key: "a", effect: "NoSchedule" }, true],
    ["PreferNoSchedule must be tolerated too", { key: "b" }, { key: "a", effect: "PreferNoSchedule" }, false],
    ["an operator nobody knows", { key: "dedicated", operator: "In", value: "gpu" }, gpu, false],
    ["Gt: the taint is greater", { key: "rank", operator: "Gt", value: "3" }, rank("5"), true],
    ["Gt: equal is not greater", { key: "rank", operator: "Gt", value: "5" }, rank("5"), false],
    ["Lt: the taint is less", { key: "rank", operator: "Lt", value: "3" }, rank("-5"), true],
    ["Lt: equal is not less", { key: "rank", operator: "Lt", value: "5" }, rank("5"), false],
    ["Gt compares numbers, not texts", { key: "rank", operator: "Gt", value: "9" }, rank("10"), true],
    ["Gt with leading zeros", { key: "rank", operator: "Gt", value: "03" }, rank("5"), false],
    ["Gt with a plus sign", { key: "rank", operator: "Gt", value: "3" }, rank("+5"), false],
    ["Gt with minus zero", { key: "rank", operator: "Gt", value: "-0" }, rank("5"), false],
    ["Gt with no number", { key: "rank", operator: "Gt", value: "3" }, rank(""), false],
    ["Gt at 64 bits", { key: "rank", operator: "Gt", value: "9223372036854775806" }, rank("9223372036854775807"), true],
    ["Gt past 64 bits", { key: "rank", operator: "Gt", value: "3" }, rank("9223372036854775808"), false],
  ];
  it.each(cases)("02:Q-43 %s", (_, toleration, taint, expected) =>
    expect(tolerates([toleration], taint)).toBe(expected),
  );

  it("02:Q-43 agrees with a literal reading of Kubernetes' rules", () => {
    const words = fc.constantFrom("", "a", "b", "3", "4", "-4", "04");
    const effects = fc.constantFrom("NoSchedule", "NoExecute", "PreferNoSchedule");
    const toleration = fc.record(
      {
        key: fc.constantFrom("", "k", "l"),
        operator: fc.constantFrom("", "Equal", "Exists", "Gt", "Lt", "Near"),
        value: words,
        effect: fc.oneof(fc.constant(""), effects),
      },
      { requiredKeys: [] },
    );
    const taint = fc.record(
      { key: fc.constantFrom("k", "l"), value: words, effect: effects },
      { requiredKeys: ["key", "effect"] },
    );
    const isInteger = (text: string) => text === String(Number(text)) && text !== "";
    const literally = (t: Toleration, { key, value = "", effect }: Taint): boolean => {
      const sameEffect = !t.effect || t.effect === effect;
      const sameKey = !t.key || t.key === key;
      const wanted = t.value ?? "";
      const sameValue = {
        "": value === wanted,
        Equal: value === wanted,
        Exists: true,
        Gt: isInteger(value) && isInteger(wanted) && Number(value) > Number(wanted),
        Lt: isInteger(value) && isInteger(wanted) && Number(value) < Number(wanted),
      }[t.operator ?? ""];
      return sameEffect && sameKey && (sameValue ?? false);
    };
    fc.assert(
      fc.property(fc.array(toleration, { maxLength: 3 }), fc.array(taint, { maxLength: 3 }), (tolerations, taints) => {
        const left = taints.filter((one) => !tolerations.some((t) => literally(t, one)));
        expect(untoleratedTaints(tolerations, taints)).toEqual(left);
        expect(firstUntoleratedTaint(tolerations, taints)).toBe(left[0]);
      }),
      { numRuns: runs(50_000) },
    );
  });

  it("02:Q-43 no tolerations tolerate only no taints", () => {
    expect(firstUntoleratedTaint(undefined, [gpu])).toBe(gpu);
    expect(firstUntoleratedTaint(undefined, [])).toBeUndefined();
  });
});

it("02:E-1 prints each taint that is not tolerated, with its value if it has one", () => {
  expect(formatTaint({ key: "a", value: "", effect: "NoExecute" })).toBe("a:NoExecute");
  expect(describeUntoleratedTaints([gpu, { key: "k", effect: "NoExecute" }])).toBe(
    "did not tolerate taint (taint=dedicated=gpu:NoSchedule); did not tolerate taint (taint=k:NoExecute)",
  );
});

describe("withPreferNoScheduleToleration", () => {
  const added = { operator: "Exists", effect: "PreferNoSchedule" };

  it("02:Q-40 adds the toleration once, to a copy", () => {
    const own: readonly Toleration[] = [{ key: "a", operator: "Exists", effect: "PreferNoSchedule" }];
    const relaxed = withPreferNoScheduleToleration(own);
    expect(relaxed).toEqual([...own, added]);
    expect(own).toHaveLength(1);
    expect(withPreferNoScheduleToleration(relaxed)).toBe(relaxed);
    expect(withPreferNoScheduleToleration(undefined)).toEqual([added]);
  });

  it("02:Q-42 and with it those taints, and no others, are tolerated", () => {
    const tolerations = withPreferNoScheduleToleration(undefined);
    expect(tolerates(tolerations, { ...gpu, effect: "PreferNoSchedule" })).toBe(true);
    expect(tolerates(tolerations, gpu)).toBe(false);
  });
});
