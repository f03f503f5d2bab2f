import { describe, expect, it } from "vitest";
import { compileExpression } from "../../api/validation/kubelet-expressions.ts";
import { VirtualClock } from "../../util/virtual-clock.ts";
import { cachedCompilation } from "./expression-cache.ts";
import { validationFactsOf } from "./node-class/validation-facts.ts";
import { nodeSettingsOf } from "./node-class-settings.ts";

const hour = 60 * 60_000;

function counted() {
  const clock = new VirtualClock();
  const compiled: string[] = [];
  const compile = cachedCompilation({
    clock,
    compile: (text) => {
      compiled.push(text);
      return compileExpression(text);
    },
  });
  return { clock, compiled, compile };
}

describe("compiled expressions", () => {
  it("04 §5.4 are kept until they were not used for 12 h", async () => {
    const { clock, compiled, compile } = counted();
    const first = compile("vcpus * 10");
    for (let times = 0; times < 3; times++) {
      await clock.advance(12 * hour - 1);
      expect(compile("vcpus * 10")).toBe(first);
    }
    await clock.advance(12 * hour);
    expect(compile("vcpus * 10")).not.toBe(first);
    expect(compiled).toEqual(["vcpus * 10", "vcpus * 10"]);
  });

  it("04 §5.4 are kept by their text, those that are invalid too", () => {
    const { compiled, compile } = counted();
    for (const text of ["vcpus * 10", "vcpus *", "vcpus * 10", "vcpus *"]) compile(text);
    expect(compile("vcpus *").kind).toBe("error");
    expect(compile("vcpus * 10").kind).toBe("ok");
    expect(compiled).toEqual(["vcpus * 10", "vcpus *"]);
  });

  it("04 §5.4 serve validation and instance types of all classes", () => {
    const { compiled, compile } = counted();
    const spec = { amiFamily: "AL2023", kubelet: { maxPods: "vcpus * 10", kubeReserved: { cpu: "max_pods * 5" } } };
    const other = { amiFamily: "AL2023", kubelet: { maxPods: "vcpus * 10" } };
    for (const one of [spec, other, spec] as never[]) {
      expect(nodeSettingsOf({ spec: one }, { allowsExpressions: true, compile }).kubeletExpressions).not.toEqual([]);
      const facts = validationFactsOf(one, { allowsExpressions: true, instanceVariables: () => [], compile });
      expect(facts.expressionInvalid).toBeUndefined();
    }
    expect(compiled).toEqual(["vcpus * 10", "max_pods * 5"]);
  });
});
