import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import type { RequirementItem } from "../../../api/kubernetes/pod.ts";
import { labelPolicy } from "../../../api/label-policy.ts";
import { awsLabels, labels } from "../../../api/labels.ts";
import { isCompatible } from "../../../core/compatibility.ts";
import type { InstanceType } from "../../../core/instance-type.ts";
import { Requirements } from "../../../core/requirements.ts";

export type Ami = NonNullable<NonNullable<Ec2NodeClass["status"]>["amis"]>[number];

const policy = labelPolicy("aws");

/** What an image is made for. */
export const amiVariants = ["standard", "nvidia", "neuron"] as const;
export type AmiVariant = (typeof amiVariants)[number];

/** Which instance types a variant is for. (04 §1.7) */
const variantRequirements: Readonly<Record<AmiVariant, readonly RequirementItem[]>> = {
  standard: [
    { key: awsLabels.instanceGpuCount, operator: "DoesNotExist" },
    { key: awsLabels.instanceAcceleratorCount, operator: "DoesNotExist" },
  ],
  nvidia: [{ key: awsLabels.instanceGpuCount, operator: "Exists" }],
  neuron: [{ key: awsLabels.instanceAcceleratorCount, operator: "Exists" }],
};

/** What an image is for. */
export interface AmiPurpose {
  readonly arch: "amd64" | "arm64";
  readonly variant?: AmiVariant | undefined;
  readonly windowsBuild?: string | undefined;
}

/** The requirements of an image, shortest key first, as the status lists them. (04 §1.3, §1.7) */
export function amiRequirementsFor({ arch, variant, windowsBuild }: AmiPurpose): Ami["requirements"] {
  const items: readonly RequirementItem[] = [
    { key: labels.arch, operator: "In", values: [arch] },
    ...(variant === undefined ? [] : variantRequirements[variant]),
    ...(windowsBuild === undefined ? [] : windowsRequirements(windowsBuild)),
  ];
  return [...items]
    .sort((a, b) => a.key.length - b.key.length || (a.key < b.key ? -1 : 1))
    .map(({ key, operator, values }) => ({ key, operator, ...(values && { values: [...values] }) }));
}

function windowsRequirements(build: string): readonly RequirementItem[] {
  return [
    { key: labels.os, operator: "In", values: ["windows"] },
    { key: labels.windowsBuild, operator: "In", values: [build] },
  ];
}

/** The first compatible image. (04 §1.7) */
export function amiFor({ requirements }: Pick<InstanceType, "requirements">, amis: readonly Ami[]): Ami | undefined {
  return amis.find((ami) => isAmiFor(requirements, ami));
}

/** Whether instances of these requirements can boot the image: every label the image asks for must be defined. */
export function isAmiFor(requirements: Requirements, ami: Ami): boolean {
  return isCompatible(requirements, Requirements.fromItems(ami.requirements as readonly RequirementItem[], policy));
}
