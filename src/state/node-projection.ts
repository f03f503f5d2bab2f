import type { Node, NodeCondition } from "../api/kubernetes/cluster-objects.ts";
import type { KubeObject } from "../api/object.ts";
import { Interner } from "./interner.ts";

/** More than a cluster has distinct ones. */
const maxInternedParts = 1_024;

interface WireNode extends Node {
  readonly metadata: Node["metadata"] & { readonly managedFields?: unknown };
  readonly status?: (NonNullable<Node["status"]> & { readonly nodeInfo?: NodeInfo | undefined }) | undefined;
}

interface WireCondition extends NodeCondition {
  readonly reason?: string | undefined;
}

interface NodeInfo {
  readonly architecture?: string | undefined;
  readonly operatingSystem?: string | undefined;
  readonly osImage?: string | undefined;
  readonly kernelVersion?: string | undefined;
  readonly kubeletVersion?: string | undefined;
  readonly containerRuntimeVersion?: string | undefined;
}

/** Keeps only what is read of Nodes: no images, addresses or heartbeats. (docs/designs/speed.md) */
export class NodeProjection {
  readonly #parts = new Interner(maxInternedParts);

  project(object: KubeObject): KubeObject {
    const { apiVersion, kind, metadata, spec, status } = object as unknown as WireNode;
    const { managedFields, ...kept } = metadata;
    const projected: WireNode = {
      apiVersion,
      kind,
      metadata: kept,
      spec: { providerID: spec?.providerID, taints: spec?.taints, unschedulable: spec?.unschedulable },
      status: this.#status(status ?? {}),
    };
    return projected as KubeObject;
  }

  #status({ capacity, allocatable, phase, conditions, nodeInfo }: NonNullable<WireNode["status"]>): WireNode["status"] {
    return {
      capacity: this.#parts.internJson(capacity),
      allocatable: this.#parts.internJson(allocatable),
      phase,
      conditions: conditions?.map((one) => this.#parts.internJson(projectCondition(one))),
      nodeInfo: this.#parts.internJson(nodeInfo && projectNodeInfo(nodeInfo)),
    };
  }
}

/** Without the heartbeat time, which changes every few minutes. */
function projectCondition({ type, status, reason, lastTransitionTime }: WireCondition): WireCondition {
  return { type, status, reason, lastTransitionTime };
}

function projectNodeInfo(info: NodeInfo): NodeInfo {
  const { architecture, operatingSystem, osImage, kernelVersion, kubeletVersion, containerRuntimeVersion } = info;
  return { architecture, operatingSystem, osImage, kernelVersion, kubeletVersion, containerRuntimeVersion };
}
