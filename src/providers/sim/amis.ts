import type { Ec2NodeClass } from "../../api/kinds/ec2-node-class.ts";
import type { RequirementItem } from "../../api/kubernetes/pod.ts";
import { labelPolicy } from "../../api/label-policy.ts";
import { awsLabels, labels } from "../../api/labels.ts";
import { amiAliasOf, resolvedAmiFamily } from "../../api/validation/ami-family.ts";
import type { AmiFamily } from "../../api/vocabulary.ts";
import { isCompatible } from "../../core/compatibility.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import { Requirements } from "../../core/requirements.ts";
import { amiFamilyTraits } from "../aws/ami-families.ts";

type Spec = NonNullable<Ec2NodeClass["spec"]>;
export type Ami = NonNullable<NonNullable<Ec2NodeClass["status"]>["amis"]>[number];

const policy = labelPolicy("aws");

/** Which instance types an AMI variant is for. (04 §1.7) */
const variantRequirements: Readonly<Record<string, readonly RequirementItem[]>> = {
  standard: [
    { key: awsLabels.instanceGpuCount, operator: "DoesNotExist" },
    { key: awsLabels.instanceAcceleratorCount, operator: "DoesNotExist" },
  ],
  nvidia: [{ key: awsLabels.instanceGpuCount, operator: "Exists" }],
  neuron: [{ key: awsLabels.instanceAcceleratorCount, operator: "Exists" }],
};

/**
 * The AMIs of the simulated account: every family in every version and variant; AL2's are marked deprecated. Selectors by
 * name, tag or parameter all find the AMIs of the class's family.
 */
export function amisFor(spec: Pick<Spec, "amiSelectorTerms" | "amiFamily">): readonly Ami[] {
  const family = resolvedAmiFamily(spec);
  const amis = amisOfFamily(family, amiAliasOf(spec)?.version ?? "latest");
  const byTerms = spec.amiSelectorTerms.some(({ id }) => id === undefined);
  const ids = new Set(spec.amiSelectorTerms.flatMap(({ id }) => (id === undefined ? [] : [id])));
  return byTerms ? amis : amis.filter(({ id }) => ids.has(id));
}

/** The first compatible AMI. (04 §1.7) */
export function amiFor({ requirements }: InstanceType, amis: readonly Ami[]): Ami | undefined {
  return amis.find((ami) => isCompatible(requirements, amiRequirements(ami)));
}

function amisOfFamily(family: AmiFamily, version: string): readonly Ami[] {
  const { windowsBuild } = amiFamilyTraits[family];
  if (windowsBuild !== undefined) return [simulatedAmi({ family, version, variant: "", arch: "amd64" })];
  const arches = ["amd64", "arm64"] as const;
  return Object.keys(variantRequirements).flatMap((variant) =>
    arches.map((arch) => simulatedAmi({ family, version, variant, arch })),
  );
}

interface AmiSource {
  readonly family: AmiFamily;
  readonly version: string;
  readonly variant: string;
  readonly arch: "amd64" | "arm64";
}

function simulatedAmi({ family, version, variant, arch }: AmiSource): Ami {
  const { windowsBuild } = amiFamilyTraits[family];
  const windows: readonly RequirementItem[] = [
    { key: labels.os, operator: "In", values: ["windows"] },
    { key: labels.windowsBuild, operator: "In", values: [windowsBuild ?? ""] },
  ];
  const parts = [family.toLowerCase(), arch, ...(variant === "" ? [] : [variant]), version];
  const requirements = [
    { key: labels.arch, operator: "In" as const, values: [arch] },
    ...(windowsBuild === undefined ? (variantRequirements[variant] ?? []) : windows),
  ];
  return {
    id: `ami-sim${parts.join("").replace(/[^0-9a-z]/g, "")}`,
    name: `simulated-${parts.join("-")}`,
    ...(family === "AL2" && { deprecated: true }),
    requirements: [...requirements]
      .sort((a, b) => a.key.length - b.key.length || (a.key < b.key ? -1 : 1)) // shortest key first, as upstream writes them (04 §1.3)
      .map(({ values, ...rest }) => ({ ...rest, ...(values && { values: [...values] }) })),
  };
}

function amiRequirements({ requirements }: Ami): Requirements {
  return Requirements.fromItems(requirements, policy);
}
