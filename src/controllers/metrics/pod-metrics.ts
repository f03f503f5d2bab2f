import type { Node } from "../../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { labels } from "../../api/labels.ts";
import { namespaceOf, type ObjectMeta } from "../../api/object.ts";
import type { Controller, ControllerContext } from "../../kube/controller.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { View } from "../../kube/view.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { type PodKubeObject, podView } from "../node/pods-of-node.ts";
import { nodeView } from "../node-claim/claim-lookups.ts";
import { listeningController, secondsSince } from "./listening-controller.ts";
import type { MetricLabelsOf, MetricSeries } from "./metrics.ts";
import { hasReadyCondition, type WaitingPod, WaitingPods } from "./waiting-pods.ts";

/** One series per pod, and how long pods wait. (03 §6.1: pods_*) */
export function podMetricsController(dependencies: ControllerDependencies): Controller {
  return listeningController(dependencies, {
    name: "metrics.pod",
    kinds: [builtInTypes.Pod, builtInTypes.Node],
    reads: [builtInTypes.Node, "cluster state"].map((of) => ({ of, because: "computed when metrics are read" })),
    listen: (context) => {
      const { clock, metrics, cluster } = context;
      const pods = podView(context);
      const waitingPods = new WaitingPods({ metrics, times: cluster.podTimes });
      const since =
        (waiting: () => Iterable<WaitingPod>, from: (waitingPod: WaitingPod) => string | number | undefined) => () =>
          waitSeries(waiting(), { from, now: clock.now() });
      const { unbound, unstarted } = waitingPods;
      return [
        pods.subscribe(({ object, old }) => {
          if (object !== undefined) waitingPods.observe(object);
          else if (old !== undefined) waitingPods.remove(old);
        }),
        metrics.collect("pods_state", () => stateSeries(pods, context)),
        metrics.collect("pods_unstarted_time_seconds", since(unstarted, createdAt)),
        metrics.collect("pods_unbound_time_seconds", since(unbound, createdAt)),
        metrics.collect("pods_provisioning_unstarted_time_seconds", since(unstarted, placedAt)),
        metrics.collect("pods_provisioning_unbound_time_seconds", since(unbound, placedAt)),
        metrics.collect("pods_provisioning_scheduling_undecided_time_seconds", since(unbound, undecidedSince)),
      ];
    },
  });
}

/** Since when a pod waits; undefined if it does not wait for that. */
type WaitStart = (waitingPod: WaitingPod) => string | number | undefined;

const createdAt: WaitStart = ({ pod }) => pod.creationTimestamp;
const placedAt: WaitStart = ({ time }) => time.schedulable;
const undecidedSince: WaitStart = ({ time }) => (time.decision === undefined ? time.ack : undefined);

function* waitSeries(
  waitingPods: Iterable<WaitingPod>,
  { from, now }: { readonly from: WaitStart; readonly now: number },
): Generator<MetricSeries<{ name: string; namespace: string }>> {
  for (const waitingPod of waitingPods) {
    const time = from(waitingPod);
    if (time !== undefined) yield { labels: nameOf(waitingPod.pod), value: secondsSince(time, now) };
  }
}

function nameOf({ name = "", namespace }: ObjectMeta): { name: string; namespace: string } {
  return { name, namespace: namespaceOf({ namespace }) };
}

function* stateSeries(
  pods: View<PodKubeObject>,
  context: ControllerContext,
): Generator<MetricSeries<MetricLabelsOf<"pods_state">>> {
  const nodes = nodeView(context);
  for (const pod of pods.all()) yield { labels: stateLabels(pod, nodes.get(pod.spec.nodeName ?? "")), value: 1 };
}

function stateLabels(pod: Pod, node: Node | undefined): MetricLabelsOf<"pods_state"> {
  const { nodeName = "" } = pod.spec;
  const of = (key: string): string => node?.metadata.labels?.[key] ?? "";
  return {
    ...nameOf(pod.metadata),
    owner: ownerPath(pod.metadata),
    node: nodeName,
    scheduled: String(nodeName !== ""),
    nodepool: of(labels.nodePool),
    zone: of(labels.zone),
    arch: of(labels.arch),
    capacity_type: of(labels.capacityType),
    instance_type: of(labels.instanceType),
    phase: pod.status?.phase ?? "",
    ready: String(hasReadyCondition(pod)),
    managed: String(of(labels.nodePool) !== ""),
  };
}

/** In the form of the former selfLink. */
function ownerPath({ namespace, ownerReferences = [] }: ObjectMeta): string {
  const [owner] = ownerReferences;
  if (owner === undefined) return "";
  return `/apis/${owner.apiVersion}/namespaces/${namespaceOf({ namespace })}/${owner.kind.toLowerCase()}s/${owner.name}`;
}
