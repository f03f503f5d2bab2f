import { customResourceDefinition } from "../../src/api/crd.ts";
import { karpenterKindsOf } from "../../src/api/kinds/karpenter-kinds.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { isKubeError } from "../../src/kube/kube-error.ts";
import { collectionPath } from "../../src/kube/request-path.ts";
import { builtInTypes, resourceTypeOfKind } from "../../src/kube/resources.ts";
import { applyCrds, type Connection, type Crd, connect, deleteAll } from "./kube.ts";

export async function installCrds(connection: Connection): Promise<void> {
  const definitions = karpenterKindsOf("all").map((kind) => customResourceDefinition(kind, "all"));
  await applyCrds(connection, definitions as unknown as readonly Crd[]);
}

export async function createNamespace(client: KubeClient, name: string): Promise<void> {
  try {
    await client.create(builtInTypes.Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  } catch (error) {
    if (!isKubeError(error, "already-exists")) throw error;
  }
}

const workloads = [
  builtInTypes.CronJob,
  builtInTypes.Job,
  builtInTypes.Deployment,
  builtInTypes.ReplicaSet,
  builtInTypes.StatefulSet,
  builtInTypes.DaemonSet,
];

/**
 * What one story leaves behind that the next one could see, whether or not anybody is left to honour finalizers; those
 * who make others before what they make.
 */
const leftovers = [
  ...karpenterKindsOf("all").map(resourceTypeOfKind),
  ...workloads,
  builtInTypes.Node,
  builtInTypes.Pod,
  builtInTypes.PersistentVolumeClaim,
  builtInTypes.VolumeAttachment,
  builtInTypes.PersistentVolume,
  builtInTypes.StorageClass,
  builtInTypes.CSIDriver,
].map((type) => collectionPath(type));

/** The namespace's own end is not waited for: no other story has one of its name. */
export async function sweep(connection: Connection, { client, namespace }: Swept): Promise<void> {
  if (namespace !== undefined) await client.delete(builtInTypes.Namespace, { name: namespace });
  for (const collection of leftovers) await deleteAll(connection, collection);
  await deleteAll(connection, collectionPath(builtInTypes.Lease, "karpenter"));
  await forgetEvents(connection);
}

/** Those of objects in no namespace, whose names come again. */
async function forgetEvents(connection: Connection): Promise<void> {
  const kube = connect(connection);
  await kube.request("DELETE", collectionPath(builtInTypes.Event, "default"));
  kube.close();
}

interface Swept {
  readonly client: KubeClient;
  readonly namespace?: string | undefined;
}
