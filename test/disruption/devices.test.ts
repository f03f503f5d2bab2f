import { describe, expect, it } from "vitest";
import type { DisruptionSnapshot } from "../../src/core/disruption/snapshot.ts";
import { ask, cluster, codesOf, commandTexts, machine, type PodFacts, pool } from "./cluster.ts";

const single = "single-node-consolidation";
const multi = "multi-node-consolidation";

const resourceClaims = [{ name: "gpu", resourceClaimName: "gpu" }];
const withClaim: PodFacts = { spec: { resourceClaims } };
/** The claim is used by a container, and was made from a template. */
const fromTemplate: PodFacts = {
  spec: { resourceClaims: [{ name: "gpu", resourceClaimTemplateName: "gpu" }] },
  status: { phase: "Running", resourceClaimStatuses: [{ name: "gpu", resourceClaimName: "web-gpu-x" }] },
};

/** Device requests are planned as if there were none, or refused. */
const planning = (snapshot: DisruptionSnapshot, ignoreDra: boolean): DisruptionSnapshot => ({
  ...snapshot,
  policy: { ...snapshot.policy, ignoreDra },
});

describe.each([true, false])(
  "03:D-39a pods with resource claims, if requests for devices are ignored: %s",
  (ignored) => {
    const found = (
      method: Parameters<typeof ask>[1],
      pods: readonly PodFacts[],
      conditions: readonly string[] = [],
    ) => {
      const snapshot = cluster([pool(), machine("n1", { pods, conditions }), machine("n2", { pods: [{}, {}] })]);
      return ask(planning(snapshot, ignored), method);
    };

    it("03:D-39a a node without them goes", () => {
      expect(commandTexts(found(single, [{}]))).toEqual(["delete n1"]);
    });

    it.each<[string, PodFacts]>([
      ["a claim of its own", withClaim],
      ["a claim from a template", fromTemplate],
    ])("03:D-39a a node with %s keeps it: nothing is consolidated or replaced", (_, pod) => {
      expect(codesOf(found(single, [pod]))).toMatchObject({ n1: "pods-unschedulable" });
      expect(codesOf(found("drift", [pod], ["Drifted"]))).toMatchObject({ n1: "pods-unschedulable" });
      for (const { candidates } of found(multi, [pod]).commands) {
        expect(candidates.map(({ name }) => name)).not.toContain("n1");
      }
    });

    it("03:D-39a one that has ended holds nothing", () => {
      expect(commandTexts(found(single, [{}, { ...withClaim, status: { phase: "Succeeded" } }]))).toEqual([
        "delete n1",
      ]);
    });

    it("03:D-39a other nodes may still move pods to a node with devices", () => {
      const nodes = [machine("n1", { pods: [{}] }), machine("n2", { pods: [withClaim, {}] })];
      const proposal = ask(planning(cluster([pool(), ...nodes]), ignored), single);
      expect(commandTexts(proposal)).toEqual(["delete n1"]);
    });
  },
);
