import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { NodeClassRef } from "../../api/node-class-ref.ts";
import type { KubeObject } from "../../api/object.ts";
import { NodeClassReader } from "../../cloud/node-class-reader.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { Controller, InvolvedObject } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { Ec2NodeClassObject } from "./node-class/node-class-object.ts";

/** What calls of the provider read from the cluster: through the views of a controller while it runs. */
export class ProviderContext {
  readonly #nodeClasses: NodeClassReader;

  constructor(client: KubeClient) {
    this.#nodeClasses = new NodeClassReader(client, [karpenterTypes.EC2NodeClass]);
  }

  get controller(): Controller {
    return this.#nodeClasses.controller;
  }

  /** Undefined if it is missing or being deleted. (04 §1.14) */
  async nodeClass({ kind, name }: Pick<NodeClassRef, "kind" | "name">): Promise<Ec2NodeClassObject | undefined> {
    if (kind !== karpenterTypes.EC2NodeClass.kind) return undefined;
    return this.#nodeClasses.find<Ec2NodeClassObject>(karpenterTypes.EC2NodeClass, name);
  }

  /** Those the cluster is known to have; none before the controllers run. */
  nodeClasses(): readonly Ec2NodeClassObject[] {
    return this.#nodeClasses.context?.view<Ec2NodeClassObject>(karpenterTypes.EC2NodeClass).all() ?? [];
  }

  /** The id of a zone, as subnets of any node class say. */
  zoneIdOf(zone: string): string | undefined {
    for (const { status } of this.nodeClasses()) {
      const id = status?.subnets?.find((subnet) => subnet.zone === zone)?.zoneID;
      if (id !== undefined) return id;
    }
    return undefined;
  }

  /** Warns about an object, once for each of its uids and reasons. */
  warn(
    object: NodeClaim | NodePool,
    kind: "NodeClaim" | "NodePool",
    event: { readonly reason: string; readonly message: string },
  ): void {
    const { uid = "" } = object.metadata;
    const { group, version } = karpenterTypes[kind];
    const involved: InvolvedObject = {
      apiVersion: `${group}/${version}`,
      kind,
      metadata: object.metadata as KubeObject["metadata"],
    };
    this.#nodeClasses.context?.recordEvent(involved, {
      type: "Warning",
      ...event,
      dedupe: { values: [uid, event.reason] },
    });
  }
}
