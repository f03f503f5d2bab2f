import { expect, it } from "vitest";
import { pod } from "../../test/builders/pod.ts";
import { VirtualClock } from "../util/virtual-clock.ts";
import { ClusterState } from "./cluster-state.ts";

it("02:S-45 a round that ends after a pod was deleted leaves nothing of it behind", () => {
  const cluster = new ClusterState({ clock: new VirtualClock(), servedNodeClasses: [], nominationMs: 10_000 });
  const web = pod().build({ name: "web", uid: "u", at: 0 });
  const decide = (): void => {
    cluster.podTimes.ack(web, 1);
    cluster.podTimes.markDecided(web, 2);
    cluster.podTimes.markPlaced(web, { now: 3, isPoolHealthy: true });
    cluster.plannedPods.plan("default/web", "claim");
  };
  cluster.podChanged(web);
  decide();
  expect(cluster.podTimes.get("default/web")).toMatchObject({ ack: 1, decision: 2 });
  expect(cluster.plannedPods.podsOf("claim")).toEqual(["default/web"]);

  cluster.podGone(web);
  decide();
  cluster.podTimes.markRefused(web);
  expect(cluster.podTimes.get("default/web")).toEqual({});
  expect([cluster.plannedPods.isDecided("default/web"), cluster.plannedPods.podsOf("claim")]).toEqual([false, []]);
});
