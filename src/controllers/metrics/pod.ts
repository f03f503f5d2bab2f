import type { Node } from "../../api/kubernetes/cluster.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { labels } from "../../api/labels.ts";
import { namespaceOf, type ObjectMeta } from "../../api/object.ts";
import type { Loop, LoopWorld } from "../../kube/loop.ts";
import { builtIn } from "../../kube/resources.ts";
import type { View } from "../../kube/view.ts";
import type { Parts } from "../parts.ts";
import { listeningLoop, secondsSince } from "./listening.ts";
import type { LabelsOf, Series } from "./metrics.ts";
import { isReady, PodWaits, type Wait } from "./pod-waits.ts";

type SeenPod = Pod & { readonly apiVersion: string; readonly kind: string };
type SeenNode = Node & { readonly apiVersion: string; readonly kind: string };

/** One series a pod, and how long pods wait. (03 §6.1: pods_*) */
export function podMetrics({ metrics, cluster }: Parts): Loop {
  return listeningLoop({
    name: "metrics.pod",
    kinds: [builtIn.Pod, builtIn.Node],
    listen: ({ view, clock }) => {
      const pods = view<SeenPod>(builtIn.Pod);
      const waits = new PodWaits({ metrics, times: cluster.times });
      const since = (waiting: () => Iterable<Wait>, from: (wait: Wait) => string | number | undefined) => () =>
        waitSeries(waiting(), { from, now: clock.now() });
      const { unbound, unstarted } = waits;
      return [
        pods.subscribe(({ object, old }) => {
          if (object !== undefined) waits.saw(object);
          else if (old !== undefined) waits.gone(old);
        }),
        metrics.collect("pods_state", () => stateSeries(pods, view)),
        metrics.collect(
          "pods_unstarted_time_seconds",
          since(unstarted, ({ pod }) => pod.creationTimestamp),
        ),
        metrics.collect(
          "pods_unbound_time_seconds",
          since(unbound, ({ pod }) => pod.creationTimestamp),
        ),
        metrics.collect(
          "pods_provisioning_unstarted_time_seconds",
          since(unstarted, ({ time }) => time.schedulable),
        ),
        metrics.collect(
          "pods_provisioning_unbound_time_seconds",
          since(unbound, ({ time }) => time.schedulable),
        ),
        metrics.collect(
          "pods_provisioning_scheduling_undecided_time_seconds",
          since(unbound, ({ time }) => (time.decision === undefined ? time.ack : undefined)),
        ),
      ];
    },
  });
}

interface Counting {
  /** Undefined: not waiting for that. */
  readonly from: (wait: Wait) => string | number | undefined;
  readonly now: number;
}

function* waitSeries(
  waits: Iterable<Wait>,
  { from, now }: Counting,
): Generator<Series<{ name: string; namespace: string }>> {
  for (const wait of waits) {
    const time = from(wait);
    if (time !== undefined) yield { labels: nameOf(wait.pod), value: secondsSince(time, now) };
  }
}

function nameOf({ name = "", namespace }: ObjectMeta): { name: string; namespace: string } {
  return { name, namespace: namespaceOf({ namespace }) };
}

function* stateSeries(pods: View<SeenPod>, view: LoopWorld["view"]): Generator<Series<LabelsOf<"pods_state">>> {
  const nodes = view<SeenNode>(builtIn.Node);
  for (const pod of pods.all()) yield { labels: stateLabels(pod, nodes.get(pod.spec.nodeName ?? "")), value: 1 };
}

function stateLabels(pod: Pod, node: Node | undefined): LabelsOf<"pods_state"> {
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
    ready: String(isReady(pod)),
    managed: String(of(labels.nodePool) !== ""),
  };
}

/** Like the self links there once were. */
function ownerPath({ namespace, ownerReferences = [] }: ObjectMeta): string {
  const [owner] = ownerReferences;
  if (owner === undefined) return "";
  return `/apis/${owner.apiVersion}/namespaces/${namespaceOf({ namespace })}/${owner.kind.toLowerCase()}s/${owner.name}`;
}
