import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../../test/runs.ts";
import type { ApiPod } from "../../api-pod-and-node.ts";
import { podsToDelete } from "./pods-to-delete.ts";

const now = Date.parse("2026-01-02T00:00:00Z");

interface Traits {
  readonly node?: string;
  readonly phase?: string;
  readonly readySeconds?: number;
  readonly cost?: string;
  readonly ageSeconds?: number;
  readonly restarts?: number;
}

function pod(
  name: string,
  { node = "n1", phase = "Running", readySeconds = 600, cost, ageSeconds = 900, restarts = 0 }: Traits = {},
): ApiPod {
  const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString();
  const ready = readySeconds < 0 ? [] : [{ type: "Ready", status: "True", lastTransitionTime: ago(readySeconds) }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      uid: name,
      creationTimestamp: ago(ageSeconds),
      ...(cost !== undefined && { annotations: { "controller.kubernetes.io/pod-deletion-cost": cost } }),
    },
    spec: { ...(node !== "" && { nodeName: node }) },
    status: { phase, conditions: ready, containerStatuses: [{ name: "main", restartCount: restarts }] },
  };
}

function order(pods: readonly ApiPod[], related = pods): readonly (string | undefined)[] {
  return podsToDelete(pods, { count: pods.length, now, related }).map(({ metadata }) => metadata.name);
}

describe("victims of scaling down", () => {
  it.each([
    ["without a node", pod("z", { node: "" }), pod("a", { phase: "Pending", readySeconds: -1 })],
    ["pending", pod("z", { phase: "Pending" }), pod("a", { readySeconds: -1 })],
    ["not ready", pod("z", { readySeconds: -1 }), pod("a", { cost: "-5" })],
    ["cheap", pod("z", { cost: "-5" }), pod("a")],
    ["cheap in numbers, not in letters", pod("z", { cost: "9" }), pod("a", { cost: "10" })],
    ["ready for a much shorter time", pod("z", { readySeconds: 10 }), pod("a")],
    ["often restarted", pod("z", { restarts: 3 }), pod("a")],
    ["much younger", pod("z", { ageSeconds: 620, readySeconds: 600 }), pod("a", { ageSeconds: 9_000 })],
  ])("05:CP-L2 pods %s go first", (_, first, second) => {
    expect(order([second, first])).toEqual(["z", "a"]);
  });

  it("05:CP-L2 the node with most related pods loses one first, pods of sibling sets included", () => {
    const [a, b, c] = [pod("a", { node: "n1" }), pod("b", { node: "n2" }), pod("c", { node: "n3" })];
    const sisters = [pod("x", { node: "n2" }), pod("y", { node: "n3", phase: "Failed" })];
    expect(order([a, b, c], [a, b, c, ...sisters])[0]).toBe("b");
  });

  it("05:CP-L2 what is no number costs nothing", () => {
    expect(order([pod("a"), pod("z", { cost: "cheap" })])).toEqual(["a", "z"]);
  });

  it("05:CP-L2 the order does not depend on how the pods came", () => {
    const traits = fc.record({
      node: fc.constantFrom("", "n1", "n2"),
      phase: fc.constantFrom("Pending", "Running", "Unknown"),
      readySeconds: fc.constantFrom(-1, 0, 5, 5_000),
      restarts: fc.nat({ max: 2 }),
      ageSeconds: fc.constantFrom(1, 100, 10_000),
    });
    fc.assert(
      fc.property(fc.array(traits, { maxLength: 8 }), fc.func(fc.nat()), (all, rank) => {
        const pods = all.map((one, at) => pod(`p${at}`, one));
        const shuffled = [...pods].sort((a, b) => rank(a.metadata.name) - rank(b.metadata.name));
        expect(order(shuffled, pods)).toEqual(order(pods));
      }),
      { numRuns: runs(5_000) },
    );
  });
});
