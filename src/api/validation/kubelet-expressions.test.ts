import { describe, expect, it } from "vitest";
import {
  expressionEvaluationProblems,
  expressionSyntaxProblems,
  expressionsDisabledProblems,
} from "./kubelet-expression-problems.ts";
import {
  type CompiledExpression,
  compileExpression,
  evaluatedMaxPods,
  evaluatedReservation,
  type InstanceVariables,
  kubeletExpressionsOf,
} from "./kubelet-expressions.ts";

const large: InstanceVariables = {
  vcpus: 2,
  memoryMib: 8192,
  defaultEnis: 3,
  ipsPerEni: 10,
  maxPods: 29,
  instanceType: "m5.large",
};
const xlarge: InstanceVariables = { ...large, vcpus: 4, memoryMib: 16_384, instanceType: "m5.xlarge" };

function compiled(text: string): CompiledExpression {
  const outcome = compileExpression(text);
  if (outcome.kind === "error") throw new Error(outcome.message);
  return outcome.value;
}

const reserved = (resource: string, text: string) =>
  evaluatedReservation(compiled(text), { resource, variables: large });

describe("kubelet expressions", () => {
  it.each([
    ["100m", false],
    ["1Gi", false],
    ["0", false],
    ["1e3", false],
    ["vcpus * 10", true],
    ["max_pods * 11", true],
    ["lots", true],
    ["10m * vcpus", true],
  ])("01 §1.6.4 %j is an expression: %s", (text, is) => {
    expect(kubeletExpressionsOf({ kubeReserved: { cpu: text } })).toHaveLength(is ? 1 : 0);
  });

  it.each([
    [undefined, 0],
    [{}, 0],
    [{ maxPods: 110, kubeReserved: { cpu: "100m" }, systemReserved: { memory: "128Mi" } }, 0],
    [{ maxPods: "vcpus * 10" }, 1],
    [{ maxPods: "110" }, 1],
    [{ kubeReserved: { cpu: "vcpus * 30" } }, 1],
    [{ systemReserved: { memory: "max_pods * 11" } }, 1],
    [{ maxPods: 110, kubeReserved: { cpu: "100m", memory: "vcpus", "ephemeral-storage": "1Gi" } }, 1],
    [{ evictionHard: { "memory.available": "10%" }, evictionSoft: { "memory.available": "15%" }, podsPerCore: 10 }, 0],
    [{ maxPods: "vcpus", kubeReserved: { cpu: "vcpus", memory: "vcpus" }, systemReserved: { cpu: "vcpus" } }, 4],
  ])("01 §8.3 %j holds %i expressions", (block, count) => {
    expect(kubeletExpressionsOf(block)).toHaveLength(count);
  });

  it("01 §8.3 says where each stands, maxPods first", () => {
    expect(kubeletExpressionsOf({ kubeReserved: { cpu: "vcpus" }, maxPods: "vcpus" })).toEqual([
      { field: "maxPods", text: "vcpus" },
      { field: "kubeReserved", resource: "cpu", text: "vcpus" },
    ]);
  });

  it.each([
    "min(110,",
    "undefined_var + 1",
    "vcpus *",
    "vcpus * 0.5",
    "true",
    "'x'",
    "instance_type",
    "10m * vcpus",
    "",
    "5u",
    "max(1, 2, 3)",
    "max('a', 'b')",
  ])("01 §1.6.4 %j does not compile", (text) => {
    expect(compileExpression(text).kind).toBe("error");
  });

  it.each([
    ["vcpus * 10", 20],
    ["((default_enis - 1) * (ips_per_eni - 1)) + 2", 20],
    ["min(110, max_pods)", 29],
    ["max(60, vcpus * 30)", 60],
    ["max(1.5, vcpus)", 2],
    ["min(2.9, 3)", 2],
    ["min(vcpus, 1.9)", 1],
    ["max(1.25, 2.75)", 2],
    ["memory_mib / 100", 81],
    ["double(vcpus) * 0.99", 1],
    ["instance_type == 'm5.large' ? 7 : 8", 7],
    ["instance_type.startsWith('c') ? 7 : 8", 8],
    ["2147483647", 2147483647],
    ["0", 0],
    ["-0.9", 0],
  ])("01 §1.6.4 maxPods %j is %i", (text, value) => {
    expect(evaluatedMaxPods(compiled(text), large)).toEqual({ kind: "ok", value });
  });

  it.each([
    ["0 - 1", "negative"],
    ["vcpus - 5", "negative"],
    ["2147483648", "more than"],
    ["1 / (vcpus - vcpus)", "m5.large"],
    ["vcpus % 0", "m5.large"],
    ["1.0 / 0.0", "finite"],
    ["0.0 / 0.0", "finite"],
    ["9223372036854775807 + vcpus", "overflow"],
  ])("01 §1.6.4 maxPods %j fails", (text, named) => {
    const outcome = evaluatedMaxPods(compiled(text), large);
    expect(outcome.kind).toBe("error");
    expect(outcome.kind === "error" && outcome.message).toContain(named);
  });

  it.each([
    ["cpu", "vcpus * 30", "60m"],
    ["cpu", "61", "70m"],
    ["cpu", "0", "0m"],
    ["memory", "memory_mib / 100", "96Mi"],
    ["memory", "16", "16Mi"],
    ["memory", "17.9", "32Mi"],
    ["ephemeral-storage", "vcpus + 1", "3Gi"],
    ["pid", "1000 + vcpus", "1002"],
  ])("01 §1.6.4 %s %j is reserved as %s", (resource, text, value) => {
    expect(reserved(resource, text)).toEqual({ kind: "ok", value });
  });

  it("01 §1.6.4 a negative reservation fails", () => {
    expect(reserved("cpu", "0 - 1").kind).toBe("error");
  });
});

describe("expression problems", () => {
  const block = {
    maxPods: "vcpus * 10",
    kubeReserved: { cpu: "vcpus *", memory: "100Mi" },
    systemReserved: { memory: "bogus * 2" },
  };

  it("01 §1.6.4 with the gate off each expression is named", () => {
    expect(expressionsDisabledProblems(block).map(({ path }) => path.slice(2).join("."))).toEqual([
      "maxPods",
      "kubeReserved.cpu",
      "systemReserved.memory",
    ]);
    expect(expressionsDisabledProblems(block)[0]?.message).toContain("NodeClassCEL");
    expect(expressionsDisabledProblems({ maxPods: 110, kubeReserved: { cpu: "100m" } })).toEqual([]);
  });

  it("01 §1.6.4 what does not compile is named", () => {
    expect(expressionSyntaxProblems(block).map(({ path }) => path.slice(2).join("."))).toEqual([
      "kubeReserved.cpu",
      "systemReserved.memory",
    ]);
  });

  it("01 §1.6.4 an expression must hold for every instance type", () => {
    const picky = { maxPods: "8 / (vcpus - 4)" };
    expect(expressionEvaluationProblems(picky, [large])).toHaveLength(1);
    expect(expressionEvaluationProblems({ maxPods: "8 / (vcpus - 1)" }, [large, xlarge])).toEqual([]);
    const [found] = expressionEvaluationProblems({ maxPods: "8 / (4 - vcpus)" }, [large, xlarge]);
    expect(found?.message).toContain("m5.xlarge");
    expect(expressionEvaluationProblems(undefined, [large])).toEqual([]);
  });

  it("01 §1.6.4 max_pods in reserved maps is the resolved value, in maxPods the default", () => {
    const reserves = (maxPods: unknown) =>
      expressionEvaluationProblems({ maxPods, kubeReserved: { memory: "max_pods - 20" } }, [large]);
    expect(reserves("max_pods - 10")).toHaveLength(1);
    expect(reserves("max_pods - 9")).toEqual([]);
    expect(reserves(19)).toHaveLength(1);
    expect(reserves(undefined)).toEqual([]);
  });
});
