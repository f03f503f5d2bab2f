import type { ApiPod } from "../../../../src/control-plane/controllers/api-pod-and-node.ts";
import { targetNodeName } from "../../../../src/control-plane/controllers/workloads/daemon-set/node-eligibility.ts";
import { changedObjectKey } from "../../../../src/control-plane/controllers/workloads/ownership.ts";
import { type ControllerContext, reconcileController, triggerOn } from "../../../../src/kube/controller.ts";
import { ignoreKubeErrors } from "../../../../src/kube/kube-error.ts";
import { builtInTypes } from "../../../../src/kube/resources.ts";
import { rfc3339 } from "../../../../src/util/timestamp.ts";

/** Says in how many seconds a pod ends, and how: `5:Succeeded`. */
export const runAnnotation = "test/run";
/** Pods of an image of this name never become ready. */
export const brokenImage = "broken";

export interface TestKubeletOptions {
  readonly readyAfterMs: number;
  readonly nodes: readonly string[];
}

/** The least that makes pods run: places them in turn, makes them ready after a while, and lets them go. */
export function testKubelet({ readyAfterMs, nodes }: TestKubeletOptions) {
  let placed = 0;
  return reconcileController({
    name: "test-kubelet",
    triggers: [triggerOn<ApiPod>(builtInTypes.Pod, changedObjectKey)],
    reconcile: async (key, world) => {
      const pod = world.view<ApiPod>(builtInTypes.Pod).get(key);
      if (pod === undefined) return undefined;
      if (pod.metadata.deletionTimestamp !== undefined) return stop(world, pod);
      if ((pod.spec.nodeName ?? "") === "") {
        const name = targetNodeName(pod) ?? nodes[placed++ % nodes.length];
        if (name === undefined) return undefined;
        const target = { apiVersion: "v1", kind: "Node", name };
        const binding = { apiVersion: "v1", kind: "Binding", metadata: pod.metadata, target };
        const { resourceVersion: _, ...metadata } = pod.metadata;
        await world.client.create(
          builtInTypes.Pod,
          { ...binding, metadata: { name: metadata.name, namespace: metadata.namespace } },
          { subresource: "binding", name: metadata.name },
        );
        return undefined;
      }
      return run(world, pod, readyAfterMs);
    },
  });
}

async function run(world: ControllerContext, pod: ApiPod, readyAfterMs: number) {
  const now = world.clock.now();
  const phase = pod.status?.phase;
  if (phase === "Succeeded" || phase === "Failed") return undefined;
  if (phase === "Pending" && pod.status?.startTime === undefined) {
    await patch(world, pod, { startTime: rfc3339(now) });
    return undefined;
  }
  const since = Date.parse(pod.status?.startTime ?? "");
  if (phase === "Pending") {
    if (now < since + readyAfterMs) return { afterMs: since + readyAfterMs - now };
    const isBroken = pod.spec.containers?.some(({ image }) => image === brokenImage) ?? false;
    const ready = { type: "Ready", status: isBroken ? "False" : "True", lastTransitionTime: rfc3339(now) };
    await patch(world, pod, { phase: "Running", conditions: [ready] });
    return undefined;
  }
  const [seconds = "", outcome] = (pod.metadata.annotations?.[runAnnotation] ?? "").split(":");
  if (outcome === undefined) return undefined;
  const leftMs = since + readyAfterMs + Number(seconds) * 1000 - now;
  if (leftMs > 0) return { afterMs: leftMs };
  const ended = { type: "Ready", status: "False", lastTransitionTime: rfc3339(now) };
  const terminated = { exitCode: outcome === "Failed" ? 1 : 0, finishedAt: rfc3339(now) };
  const containerStatuses = [
    { name: "main", image: "app", imageID: "", ready: false, restartCount: 0, state: { terminated } },
  ];
  await patch(world, pod, { phase: outcome, conditions: [ended], containerStatuses });
  return undefined;
}

async function stop(world: ControllerContext, pod: ApiPod) {
  const { name = "", namespace, uid = "", deletionTimestamp = "" } = pod.metadata;
  const grace = (pod.metadata as { deletionGracePeriodSeconds?: number }).deletionGracePeriodSeconds ?? 0;
  if (grace === 0) return undefined; // only finalizers hold it
  const leftMs = Date.parse(deletionTimestamp) - grace * 1000 + 1_000 - world.clock.now();
  if (leftMs > 0) return { afterMs: leftMs };
  const key = { name, namespace };
  const options = { gracePeriodSeconds: 0, preconditions: { uid } };
  await ignoreKubeErrors(world.client.delete(builtInTypes.Pod, key, options), "not-found");
  return undefined;
}

function patch(world: ControllerContext, { metadata }: ApiPod, status: object): Promise<unknown> {
  const key = { name: metadata.name ?? "", namespace: metadata.namespace };
  return world.client.patch(builtInTypes.Pod, key, { kind: "merge", body: { status } }, { subresource: "status" });
}
