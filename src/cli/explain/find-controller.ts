import type { Pod } from "../../api/kubernetes/pod.ts";
import { simulationAnnotations } from "../../api/labels.ts";
import { type KubeObject, namespacedName } from "../../api/object.ts";
import { builtInTypes } from "../../kube/resources.ts";
import { controllerNamespaces } from "../controller-namespaces.ts";
import type { LiveCluster } from "../live-cluster.ts";

/** Where the running controller can be asked, or why it cannot be and what to do about it. */
export type ControllerAddress = { readonly url: string } | { readonly because: string };

const labelSelector = "app.kubernetes.io/name=karpenter";
const metricsPort = 8080;

/** The controller's pod says where it listens in the sandbox; elsewhere its port has to be forwarded. */
export async function findController({ kube }: Pick<LiveCluster, "kube">): Promise<ControllerAddress> {
  const lists = await Promise.all(
    // Pods of other namespaces may only claim to be it.
    controllerNamespaces.map((namespace) =>
      kube.list<KubeObject & Pod>(builtInTypes.Pod, { namespace, labelSelector }),
    ),
  );
  const running = lists.flatMap(({ items }) => items).filter(({ status }) => status?.phase === "Running");
  const [pod] = running;
  if (pod === undefined) {
    return {
      because: `no running pod with the label ${labelSelector} is in namespace ${controllerNamespaces.join(" or ")}`,
    };
  }
  const url = running.map(({ metadata }) => metadata.annotations?.[simulationAnnotations.controllerUrl]).find(Boolean);
  if (url !== undefined) return { url };
  const { name = "", namespace = "" } = pod.metadata;
  const forward = `kubectl port-forward -n ${namespace} pod/${name} ${portOf(pod)}`;
  const because = `its port is not reachable from here: run ${forward}, and give --controller http://127.0.0.1:${portOf(pod)}`;
  const which =
    running.length === 1
      ? ""
      : ` (${running.map(({ metadata }) => namespacedName(metadata)).join(", ")}; ask the one that leads)`;
  return { because: `${because}${which}` };
}

function portOf({ spec }: Pod): number {
  const ports = (spec.containers ?? []).flatMap(({ ports: own = [] }) => own);
  return ports.find(({ name }) => name === "http-metrics")?.containerPort ?? metricsPort;
}
