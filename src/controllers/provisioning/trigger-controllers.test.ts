import { expect, it } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import type { ControllerContext } from "../../kube/controller.ts";
import { View } from "../../kube/view.ts";
import { ExpectedPlaces } from "../../state/expected-places.ts";
import { PodTimes } from "../../state/pod-times.ts";
import { VirtualClock } from "../../util/virtual-clock.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { ProvisioningTrigger } from "./provisioning-trigger.ts";
import { podTriggerController } from "./trigger-controllers.ts";

class CountingTrigger extends ProvisioningTrigger {
  readonly fired: string[] = [];

  override fire(uid: string): void {
    this.fired.push(uid);
    super.fire(uid);
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

/** The loop over a view that the test fills. */
function asking() {
  const clock = new VirtualClock();
  const view = new View<KubeObject>({ clock, onHandlerError: () => {} });
  const trigger = new CountingTrigger();
  const times = new PodTimes();
  const stop = new AbortController();
  const dependencies = {
    trigger,
    cluster: { podTimes: times, expectedPlaces: new ExpectedPlaces() },
  } as unknown as ControllerDependencies;
  const context = { clock, view: () => view } as unknown as ControllerContext;
  const running = podTriggerController(dependencies).run(context, stop.signal);
  return { clock, view, trigger, times, stop, running };
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
