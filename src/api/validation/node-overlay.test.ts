import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import { labelPolicy } from "../label-policy.ts";
import { labels, resources } from "../labels.ts";
import { reviewNodeOverlay } from "./node-overlay.ts";
import { byPrecedence } from "./precedence.ts";

const aws = labelPolicy("aws");
const codes = (spec: Parameters<typeof reviewNodeOverlay>[0]["spec"], policy = aws) =>
  reviewNodeOverlay({ spec }, policy).problems.map(({ code }) => code);

describe("NodeOverlay runtime validation", () => {
  it("01 §1.4 may select a pool", () => {
    expect(codes({ requirements: [{ key: labels.nodePool, operator: "In", values: ["a"] }] })).toEqual([]);
  });

  it("01 §4.2 In and NotIn need a value", () => {
    expect(codes({ requirements: [{ key: "a", operator: "In" }] })).toEqual(["value-count"]);
    expect(codes({ requirements: [{ key: "a", operator: "NotIn", values: [] }] })).toEqual(["value-count"]);
    expect(codes({ requirements: [{ key: "a", operator: "Exists" }] })).toEqual([]);
  });

  it("01 §3.1.3 restricted labels are refused here too", () => {
    expect(codes({ requirements: [{ key: "karpenter.sh/x", operator: "Exists" }] })).toEqual(["restricted-label"]);
    expect(codes({ requirements: [{ key: "karpenter.k8s.aws/ec2nodeclass", operator: "Exists" }] })).toEqual([
      "restricted-label",
    ]);
  });

  it.each([
    resources.cpu,
    resources.memory,
    resources.pods,
    resources.ephemeralStorage,
    resources.efa,
    resources.podEni,
    resources.neuron,
    resources.neuronCore,
    resources.gaudi,
  ])("01 §3.5 %s cannot be overlaid", (resource) => {
    expect(codes({ requirements: [], capacity: { [resource]: "1" } })).toEqual(["restricted-resource"]);
  });

  it("01 §3.5 extended resources can, GPUs among them; other providers' are extended", () => {
    expect(
      codes({
        requirements: [],
        capacity: { "example.com/licence": 3, [resources.nvidiaGpu]: "1", [resources.amdGpu]: "1" },
      }),
    ).toEqual([]);
    expect(codes({ requirements: [], capacity: { [resources.efa]: "1" } }, labelPolicy("kwok"))).toEqual([]);
  });
});

describe("byPrecedence", () => {
  const one = (name: string, weight?: number) => ({ metadata: { name }, spec: { weight } });
  const order = (list: readonly ReturnType<typeof one>[]) =>
    [...list].sort(byPrecedence).map(({ metadata }) => metadata.name);

  it("01 §9.9 higher weight first, unset is 0, equal weight by name descending", () => {
    expect(order([one("a"), one("b", 1), one("c", 100), one("d", 0), one("e", 1)])).toEqual(["c", "e", "b", "d", "a"]);
  });

  it("01 §9.9 does not depend on the order it starts from", () => {
    const list = fc.uniqueArray(
      fc.record({
        name: fc.string({ maxLength: 3 }),
        weight: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      }),
      {
        selector: ({ name }) => name,
      },
    );
    fc.assert(
      fc.property(list, (items) => {
        const objects = items.map(({ name, weight }) => one(name, weight));
        expect(order([...objects].reverse())).toEqual(order(objects));
      }),
      { numRuns: runs(2_000) },
    );
  });
});
