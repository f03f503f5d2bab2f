import type { CapacityBuffer } from "../api/kinds/capacity-buffer.ts";
import type { NodeClaim } from "../api/kinds/node-claim.ts";
import type { NodeOverlay } from "../api/kinds/node-overlay.ts";
import type { NodePool } from "../api/kinds/node-pool.ts";
import type {
  CsiNode,
  DaemonSet,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from "../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../api/kubernetes/pod.ts";
import type { KubeObject } from "../api/object.ts";
import type { PodDisruptionBudget } from "../core/pod-predicates.ts";
import type { NamedPodTemplate } from "../core/round/resolve-buffers.ts";
import { type ScenarioKind, scenarioKind } from "../core/scenario/scenario-kind.ts";

/** The types of the kinds a scheduling problem is made from. */
export interface KindTypes {
  Pod: Pod;
  PodTemplate: NamedPodTemplate;
  Node: Node;
  Namespace: Namespace;
  PersistentVolume: PersistentVolume;
  PersistentVolumeClaim: PersistentVolumeClaim;
  StorageClass: StorageClass;
  CSINode: CsiNode;
  DaemonSet: DaemonSet;
  PodDisruptionBudget: PodDisruptionBudget;
  NodePool: NodePool;
  NodeClaim: NodeClaim;
  NodeOverlay: NodeOverlay;
  CapacityBuffer: CapacityBuffer;
}

/** The objects of a cluster by kind. */
export class ObjectsByKind {
  readonly #byKind = new Map<ScenarioKind, KubeObject[]>();

  /** Objects have been checked and completed by now: what says it is a Pod has the shape of one. */
  constructor(objects: readonly KubeObject[]) {
    for (const object of objects) {
      const kind = scenarioKind(object);
      if (kind === undefined) continue;
      const found = this.#byKind.get(kind);
      if (found === undefined) this.#byKind.set(kind, [object]);
      else found.push(object);
    }
  }

  ofKind<K extends keyof KindTypes>(kind: K): readonly KindTypes[K][] {
    return (this.#byKind.get(kind) ?? []) as unknown as readonly KindTypes[K][];
  }
}
