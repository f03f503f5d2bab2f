import { type KubeObject, namespacedName } from "../../api/object.ts";
import type { ResourceType } from "../../kube/client.ts";
import { builtInTypes } from "../../kube/resources.ts";
import { systemClock } from "../../util/clock.ts";
import { connectTo } from "../connect.ts";
import type { Io } from "../io.ts";
import type { ClusterChoice, LiveCluster } from "../live-cluster.ts";

/** Names of objects in a cluster that can follow. */
export interface WantedObjects {
  readonly kind: string;
  readonly cluster: ClusterChoice;
  /** That of the context if it is not given. */
  readonly namespace: string | undefined;
}

export interface ObjectName {
  readonly name: string;
  /** Of a pod its phase, else empty. */
  readonly description: string;
}

/** A shell waits while a word is completed: a cluster that is slower than this has no names to offer. */
const timeLimitMs = 1_500;
/** Of one list. More would take long to read, and nobody would read them. */
const maxNames = 500;

/** Names in the order of the alphabet; none if the cluster cannot be read in time. Nobody wants an error while typing. */
export async function objectNames(wanted: WantedObjects, io: Io): Promise<readonly ObjectName[]> {
  const type = Object.values<ResourceType>(builtInTypes).find(({ kind }) => kind === wanted.kind);
  if (type === undefined) return [];
  const limit = new AbortController();
  const timer = systemClock().setTimer(timeLimitMs, () => limit.abort());
  const late = new Promise<readonly ObjectName[]>((resolve) => {
    limit.signal.addEventListener("abort", () => resolve([]));
  });
  try {
    const reading = readNames(type, wanted, { io, signal: limit.signal }).catch(() => []);
    return await Promise.race([reading, late]);
  } finally {
    timer.cancel();
  }
}

async function readNames(
  type: ResourceType,
  { cluster: choice, namespace }: WantedObjects,
  { io, signal }: { readonly io: Io; readonly signal: AbortSignal },
): Promise<readonly ObjectName[]> {
  const cluster = await connectTo(io, { timeoutMs: timeLimitMs, pluginTimeoutMs: timeLimitMs })(choice);
  signal.addEventListener("abort", () => cluster.close());
  try {
    const where = type.namespaced ? { namespace: namespace ?? cluster.namespace ?? "default" } : {};
    const lists = await Promise.all(
      selectorsFor(type).map((selector) => listed(type, cluster, { ...where, ...selector, limit: maxNames, signal })),
    );
    const byName = new Map(lists.flat().map((object) => [namespacedName(object.metadata), nameOf(object)]));
    return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
  } finally {
    cluster.close();
  }
}

/** Of many pods those that wait for a node are asked for most. */
function selectorsFor({ kind }: ResourceType): readonly { readonly fieldSelector?: string }[] {
  return kind === "Pod" ? [{ fieldSelector: "status.phase=Pending" }, {}] : [{}];
}

async function listed(
  type: ResourceType,
  { kube }: Pick<LiveCluster, "kube">,
  options: Parameters<LiveCluster["kube"]["list"]>[1],
): Promise<readonly KubeObject[]> {
  return (await kube.list<KubeObject>(type, options)).items;
}

function nameOf({ metadata, status }: KubeObject): ObjectName {
  const { phase = "" } = (status ?? {}) as { readonly phase?: string };
  return { name: metadata.name ?? "", description: phase };
}
