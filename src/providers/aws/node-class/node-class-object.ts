import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import type { KubeObject } from "../../../api/object.ts";

export type Ec2NodeClassObject = KubeObject & Ec2NodeClass;
export type Ec2NodeClassSpec = NonNullable<Ec2NodeClass["spec"]>;
export type Ec2NodeClassStatus = NonNullable<Ec2NodeClass["status"]>;

/** Changes whenever what a class selects may have changed: answers about a class are cached under it. (04 §1.5) */
export function nodeClassRevision({ metadata }: Ec2NodeClass): string {
  return `${metadata.uid}/${metadata.generation}`;
}
