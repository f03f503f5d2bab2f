import { expect, it } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import type { StateNode } from "../../core/round/cluster-snapshot.ts";
import type { ControllerContext } from "../../kube/controller.ts";
import { View } from "../../kube/view.ts";
import { ExpectedPlaces } from "../../state/expected-places.ts";
import { PlannedPods } from "../../state/planned-pods.ts";
import { PodTimes } from "../../state/pod-times.ts";
import { Quantity } from "../../util/quantity.ts";
import { VirtualClock } from "../../util/virtual-clock.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { ProvisioningTrigger } from "./provisioning-trigger.ts";
import { podTriggerController } from "./trigger-controllers.ts";

class CountingTrigger extends ProvisioningTrigger {
  readonly fired: string[] = [];
  /** Of those, the ones that can wait. */
  readonly waiting = new Set<string>();

  override fire(uid: string, options?: { readonly canWait: boolean }): void {
    this.fired.push(uid);
    if (options?.canWait) this.waiting.add(uid);
    else this.waiting.delete(uid);
    super.fire(uid, options);
  }
}

function waitingPod(index: number, reason = "Unschedulable", resourceVersion = "1"): KubeObject {
  const conditions = [{ type: "PodScheduled", status: "False", reason }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `pod-${index}`, namespace: "default", uid: `uid-${index}`, resourceVersion },
    spec: {},
    status: { conditions },
  };
}

interface PlannedNode extends Pick<StateNode, "isInitialized" | "isBeingDeleted"> {
  readonly existing?: Pick<StateNode["existing"], "available">;
}

/** The loop over a view that the test fills. */
function asking() {
  const clock = new VirtualClock();
  const view = new View<KubeObject>({ clock, onHandlerError: () => {} });
  const trigger = new CountingTrigger();
  const times = new PodTimes();
  const plannedPods = new PlannedPods();
  const nodes: Record<string, PlannedNode> = {};
  const stop = new AbortController();
  const dependencies = {
    trigger,
    cluster: {
      podTimes: times,
      expectedPlaces: new ExpectedPlaces(),
      plannedPods,
      nodeByClaimName: (name: string) => nodes[name],
    },
  } as unknown as ControllerDependencies;
  const context = { clock, view: () => view } as unknown as ControllerContext;
  const running = podTriggerController(dependencies).run(context, stop.signal);
  return { clock, view, trigger, times, plannedPods, nodes, stop, running };
}

it("02:P-10 thousands of pods are all asked about every ten seconds, a thousand at a time", async () => {
  const { clock, view, trigger } = asking();
  for (let index = 0; index < 2_500; index++) view.onWatchUpdate(waitingPod(index));
  expect(trigger.fired).toHaveLength(2_500);

  await clock.advance(9_999);
  expect(trigger.fired).toHaveLength(2_500);
  await clock.advance(1);
  expect(trigger.fired).toHaveLength(5_000);
  expect(new Set(trigger.fired.slice(2_500)).size).toBe(2_500);
  await clock.advance(10_000);
  expect(trigger.fired).toHaveLength(7_500);
});

it("02:P-10 each pod waits its own ten seconds, and is first seen once", async () => {
  const { clock, view, trigger, times } = asking();
  view.onWatchUpdate(waitingPod(1));
  await clock.advance(4_000);
  view.onWatchUpdate(waitingPod(2));
  await clock.advance(6_000);
  expect(trigger.fired).toEqual(["uid-1", "uid-2", "uid-1"]);

  await clock.advance(4_000);
  expect(trigger.fired).toEqual(["uid-1", "uid-2", "uid-1", "uid-2"]);
  expect(times.get("default/pod-2").ack).toBe(4_000);
});

it("02:P-10 pods that have a place, or are gone, are not asked about", async () => {
  const { clock, view, trigger } = asking();
  view.onWatchUpdate(waitingPod(1));
  view.onWatchUpdate(waitingPod(2));
  view.onWatchUpdate(waitingPod(3, "SchedulingGated"));
  await clock.advance(1_000);

  view.onWatchUpdate({ ...waitingPod(1, "", "2"), spec: { nodeName: "node-1" } });
  view.onWatchDelete(waitingPod(2));
  await clock.advance(60_000);

  expect(trigger.fired).toEqual(["uid-1", "uid-2"]);
});

it("a loop that is told to stop leaves no timer behind", async () => {
  const { clock, view, stop, running } = asking();
  view.onWatchUpdate(waitingPod(1));

  stop.abort();
  await running;

  expect(clock.pending).toBe(0);
});

it("02:P-10 after its stop neither news nor time ask for a round", async () => {
  const { clock, view, trigger, stop, running } = asking();
  view.onWatchUpdate(waitingPod(1));
  stop.abort();
  await running;
  view.onWatchUpdate(waitingPod(2));
  await clock.advance(60_000);
  expect(trigger.fired).toEqual(["uid-1"]);
  expect(clock.pending).toBe(0);
});

it("02:P-10a a pod can wait as long as the node it is planned on is on its way, or has room for it", async () => {
  const { clock, view, trigger, plannedPods, nodes } = asking();
  const again = async (index: number) => {
    await clock.advance(10_000);
    view.onWatchUpdate(waitingPod(index, "Unschedulable", String(clock.now())));
    return trigger.waiting.has(`uid-${index}`);
  };
  const room = (pods: number) => ({ available: { pods: Quantity.parse(String(pods)) } });
  view.onWatchUpdate(waitingPod(1));
  expect(trigger.waiting.has("uid-1")).toBe(false);
  plannedPods.plan("default/pod-1", "claim");
  expect(await again(1)).toBe(false); // the claim is not known
  nodes["claim"] = { isInitialized: false, isBeingDeleted: false };
  expect(await again(1)).toBe(true);
  nodes["claim"] = { isInitialized: false, isBeingDeleted: true };
  expect(await again(1)).toBe(false);
  nodes["claim"] = { isInitialized: true, isBeingDeleted: false, existing: room(1) };
  expect(await again(1)).toBe(true);
  nodes["claim"] = { isInitialized: true, isBeingDeleted: false, existing: room(0) };
  expect(await again(1)).toBe(false);
});

it("02:P-10a a pod that lost its place triggers at once, however often it changed while its node was on its way", async () => {
  const { clock, view, trigger, plannedPods, nodes } = asking();
  const change = async (afterMs: number) => {
    await clock.advance(afterMs);
    const before = trigger.fired.length;
    view.onWatchUpdate(waitingPod(1, "Unschedulable", String(clock.now())));
    return trigger.fired.length > before && !trigger.waiting.has("uid-1");
  };
  view.onWatchUpdate(waitingPod(1));
  plannedPods.plan("default/pod-1", "claim");
  nodes["claim"] = { isInitialized: false, isBeingDeleted: false };
  for (let times = 0; times < 8; times++) expect(await change(1_000)).toBe(false);
  plannedPods.plan("default/pod-1", "gone");
  expect(await change(1_000)).toBe(true);
  expect(await change(1_000)).toBe(false); // now it has to wait twice as long
  expect(await change(1_000)).toBe(true);
});
