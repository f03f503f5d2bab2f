import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { Decision, PlannedNode } from "../scheduling/decision.ts";
import { expectedPods, expectedReplicaSetOf, replicaSetOf } from "./expected-pods.ts";
import { gatherPods } from "./gather-pods.ts";

let made = 0;

/** A pod of a ReplicaSet, or of nobody. */
function existing(uid?: string): Pod {
  const name = `pod-${++made}`;
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: uid ?? "", uid: uid ?? "", controller: true };
  return { metadata: { name, uid: name, ...(uid !== undefined && { ownerReferences: [owner] }) }, spec: {} };
}

function expected(uid: string, missing: number): readonly Pod[] {
  return expectedPods([{ uid, example: existing(uid), missing }]);
}

function decided(newNodes: readonly (readonly Pod[])[], placements: readonly (readonly Pod[])[] = []): Decision {
  return {
    newNodes: newNodes.map((pods) => ({ pool: "default", pods }) as unknown as PlannedNode),
    placements: placements.map((pods, index) => ({ node: `node-${index}`, pods })),
    refusals: [],
    emptyPools: [],
    statistics: { pods: 0, classes: 0, candidatesTried: 0, timedOut: false },
  };
}

/** The places of each node: which ReplicaSet, and in capitals if a pod exists for it. */
function shown(places: readonly { readonly pods: readonly Pod[] }[] | undefined): readonly string[] | undefined {
  return places?.map(({ pods }) => pods.map(placeOf).sort().join(""));
}

function placeOf(pod: Pod): string {
  return expectedReplicaSetOf(pod) ?? (replicaSetOf(pod)?.uid ?? "x").toUpperCase();
}

describe("02:P-35 nodes for pods that exist", () => {
  it("02:P-35 pods that exist fill whole nodes, and a node for expected ones alone is left to later", () => {
    const [a, b] = expected("a", 2);
    const [c, d] = expected("b", 2);
    const nodes = [
      [existing("a"), a as Pod, c as Pod],
      [existing("a"), b as Pod, existing("b")],
      [d as Pod, existing("b")],
    ];
    expect(shown(gatherPods(decided(nodes))?.newNodes)).toEqual(["AAb", "BB"]);
  });

  it("02:P-35 room on nodes that are there is taken first", () => {
    const [a, b] = expected("a", 2);
    const gathered = gatherPods(decided([[existing("a"), b as Pod]], [[a as Pod, existing("a")]]));
    expect(shown(gathered?.placements)).toEqual(["AA"]);
    expect(gathered?.newNodes).toEqual([]);
  });

  it("02:P-35 a node with a pod that cannot change places stays, and is filled first", () => {
    const gathered = gatherPods(
      decided([
        [existing("a"), ...expected("a", 1)],
        [existing(), ...expected("a", 1)],
      ]),
    );
    expect(shown(gathered?.newNodes)).toEqual(["AX"]);
  });

  it("02:P-35 too many nodes that would wait for pods are refused", () => {
    const nodes = Array.from({ length: 3 }, () => [existing("a"), ...expected("b", 1)]);
    expect(gatherPods(decided(nodes))).toBeUndefined();
  });

  it("02:P-35 every pod that exists keeps a place, and every node that stays its shape", () => {
    const place = fc.record({ set: fc.constantFrom("a", "b", "x"), exists: fc.boolean() });
    const nodesOf = fc.array(fc.array(place, { minLength: 1, maxLength: 6 }), { maxLength: 8 });
    const podOf = ({ set, exists }: { set: string; exists: boolean }): Pod => {
      if (set === "x") return existing();
      return exists ? existing(set) : (expected(set, 1)[0] as Pod);
    };
    const property = fc.property(nodesOf, nodesOf, (news, olds) => {
      const decision = decided(
        news.map((places) => places.map(podOf)),
        olds.map((places) => places.map(podOf)),
      );
      const gathered = gatherPods(decision);
      if (gathered === undefined) return;
      const names = (of: Decision): readonly string[] =>
        [...of.newNodes, ...of.placements].flatMap(({ pods }) =>
          pods.filter((pod) => expectedReplicaSetOf(pod) === undefined).map(({ metadata }) => metadata.name ?? ""),
        );
      expect([...names(gathered)].sort()).toEqual([...names(decision)].sort());
      const shapes = (of: Decision): readonly string[] =>
        (shown(of.newNodes) ?? []).map((one) => [...one.toLowerCase()].sort().join(""));
      const left = [...shapes(decision)];
      for (const shape of shapes(gathered)) expect(left.splice(left.indexOf(shape), 1)).toEqual([shape]);
      for (const { pods } of gathered.newNodes) expect(pods.map(placeOf).join("")).toMatch(/[A-Z]/);
    });
    fc.assert(property, { numRuns: 300 });
  });
});
