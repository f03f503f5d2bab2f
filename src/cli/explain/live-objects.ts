import type { KubeObject } from "../../api/object.ts";
import type { ResourceType } from "../../kube/client.ts";
import { listAllPages } from "../../kube/list-all-pages.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { Io } from "../io.ts";
import type { LiveCluster, LiveSource } from "../live-cluster.ts";
import type { ExplainTarget } from "./explain-target.ts";

export async function openLiveCluster(live: LiveSource, io: Io): Promise<LiveCluster> {
  const { connectTo } = await import("../connect.ts");
  return (live.connect ?? connectTo(io))(live);
}

/** The pods of the namespace, and what stands between them and their workloads. */
export async function readOwnership(
  { kind, namespace }: ExplainTarget,
  { kube }: LiveCluster,
): Promise<{ readonly pods: readonly KubeObject[]; readonly owners: readonly KubeObject[] }> {
  const pods = await readAll(kube, builtInTypes.Pod, namespace);
  if (kind === "Pod") return { pods, owners: [] };
  const owners = await Promise.all(
    [builtInTypes.ReplicaSet, builtInTypes.Job].map((type) => readAll(kube, type, namespace).catch(() => [])),
  );
  return { pods, owners: owners.flat() };
}

async function readAll(
  kube: LiveCluster["kube"],
  type: ResourceType,
  namespace: string,
): Promise<readonly KubeObject[]> {
  const items: KubeObject[] = [];
  const apiVersion = type.group === "" ? type.version : `${type.group}/${type.version}`;
  for await (const page of listAllPages(kube, type, { namespace }))
    for (const item of page) items.push({ ...item, apiVersion, kind: type.kind });
  return items;
}
