import { expect, it } from "vitest";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { ClusterSnapshot } from "../../core/round/cluster-snapshot.ts";
import { PlannedPods } from "../../state/planned-pods.ts";
import { runSteps } from "../../util/steps.ts";
import { nominatedNodes } from "./round-problem.ts";

function pod(name: string): Pod {
  return { metadata: { name }, spec: {} };
}

it("02:L-32 pods keep their place under the name the node has in the snapshot, even if it was initialized since", () => {
  const plannedPods = new PlannedPods();
  plannedPods.plan("default/web", "booting");
  plannedPods.plan("default/job", "leaving");
  const nodes = [
    { claim: { metadata: { name: "booting" } }, existing: { name: "booting" }, isBeingDeleted: false },
    { claim: { metadata: { name: "leaving" } }, existing: { name: "node-2" }, isBeingDeleted: true },
  ];
  const snapshot = { nodes } as unknown as ClusterSnapshot;
  const expectedClaims = new Map([["default/expected", "booting"]]);

  const places = runSteps(
    nominatedNodes([pod("web"), pod("job"), pod("new"), pod("expected")], { snapshot, plannedPods, expectedClaims }),
  );
  expect([...places]).toEqual([
    ["default/web", "booting"],
    ["default/expected", "booting"],
  ]);
});
