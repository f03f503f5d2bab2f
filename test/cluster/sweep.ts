import { customResourceDefinition } from "../../src/api/crd.ts";
import { kindsOf } from "../../src/api/kinds/registry.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { isKubeError } from "../../src/kube/error.ts";
import { collectionPath } from "../../src/kube/request-path.ts";
import { builtIn, typeOf } from "../../src/kube/resources.ts";
import { applyCrds, type Connection, type Crd, connect, deleteAll } from "./kube.ts";

export async function installCrds(connection: Connection): Promise<void> {
  const definitions = kindsOf("all").map((kind) => customResourceDefinition(kind, "all"));
  await applyCrds(connection, definitions as unknown as readonly Crd[]);
}

export async function createNamespace(client: KubeClient, name: string): Promise<void> {
  try {
    await client.create(builtIn.Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  } catch (error) {
    if (!isKubeError(error, "already-exists")) throw error;
  }
}

const workloads = [
  builtIn.CronJob,
  builtIn.Job,
  builtIn.Deployment,
  builtIn.ReplicaSet,
  builtIn.StatefulSet,
  builtIn.DaemonSet,
];

/**
 * What one story leaves behind that the next one could see, whether or not anybody is left to honour finalizers; those
 * who make others before what they make.
 */
const leftovers = [
  ...kindsOf("all").map(typeOf),
  ...workloads,
  builtIn.Node,
  builtIn.Pod,
  builtIn.PersistentVolumeClaim,
  builtIn.VolumeAttachment,
  builtIn.PersistentVolume,
  builtIn.StorageClass,
  builtIn.CSIDriver,
].map((type) => collectionPath(type));

/** The namespace's own end is not waited for: no other story has one of its name. */
export async function sweep(connection: Connection, { client, namespace }: Swept): Promise<void> {
  if (namespace !== undefined) await client.delete(builtIn.Namespace, { name: namespace });
  for (const collection of leftovers) await deleteAll(connection, collection);
  await deleteAll(connection, collectionPath(builtIn.Lease, "karpenter"));
  await forgetEvents(connection);
}

/** Those of objects in no namespace, whose names come again. */
async function forgetEvents(connection: Connection): Promise<void> {
  const kube = connect(connection);
  await kube.request("DELETE", collectionPath(builtIn.Event, "default"));
  kube.close();
}

interface Swept {
  readonly client: KubeClient;
  readonly namespace?: string | undefined;
}
