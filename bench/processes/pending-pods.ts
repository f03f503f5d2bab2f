import type { KubeObject } from "../../src/api/object.ts";
import type { Patch } from "../../src/kube/client.ts";
import { ofOwners } from "../arrivals.ts";
import { isoTime } from "./standing-cluster.ts";

/** Of five hundred workloads, as their controllers would create them. */
export function pendingPods(count: number): readonly KubeObject[] {
  return ofOwners(500, count).map(({ apiVersion, kind, metadata, spec }, index) => {
    const owner = `owner-${index % 500}`;
    return {
      apiVersion,
      kind,
      metadata: {
        name: metadata.name,
        namespace: metadata.namespace,
        labels: { ...metadata.labels, "pod-template-hash": "6d4cf56db6" },
        ownerReferences: [
          { apiVersion: "apps/v1", kind: "ReplicaSet", name: owner, uid: `uid-${owner}`, controller: true },
        ],
      },
      spec: { ...structuredClone(spec), containers: spec.containers?.map((one) => ({ ...one, image: "app:1.2.3" })) },
    } as KubeObject;
  });
}

/** What kube-scheduler says of a pod that fits nowhere. */
export function unschedulable(now: number): Patch {
  const condition = {
    type: "PodScheduled",
    status: "False",
    reason: "Unschedulable",
    message: "0/0 nodes are available: no nodes available to schedule pods.",
    lastProbeTime: null,
    lastTransitionTime: isoTime(now),
  };
  return { kind: "strategic", body: { status: { conditions: [condition] } } };
}
