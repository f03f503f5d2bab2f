import type { Ec2NodeClass } from "../../api/kinds/ec2-node-class.ts";
import { labelPolicy } from "../../api/label-policy.ts";
import { awsLabels, labels } from "../../api/labels.ts";
import { aliasOf, resolvedAmiFamily } from "../../api/validation/ami-family.ts";
import type { AmiFamily } from "../../api/vocabulary.ts";
import { isCompatible } from "../../core/compatibility.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import { Requirement, type RequirementItem } from "../../core/requirement.ts";
import { Requirements } from "../../core/requirements.ts";
import { amiFamilyTraits } from "../aws/ami-families.ts";

type Spec = NonNullable<Ec2NodeClass["spec"]>;
export type Image = NonNullable<NonNullable<Ec2NodeClass["status"]>["amis"]>[number];

const policy = labelPolicy("aws");

/** Which machines an image is for. (04 §1.7) */
const variants: Readonly<Record<string, readonly RequirementItem[]>> = {
  standard: [
    { key: awsLabels.instanceGpuCount, operator: "DoesNotExist" },
    { key: awsLabels.instanceAcceleratorCount, operator: "DoesNotExist" },
  ],
  nvidia: [{ key: awsLabels.instanceGpuCount, operator: "Exists" }],
  neuron: [{ key: awsLabels.instanceAcceleratorCount, operator: "Exists" }],
};

/**
 * The images of the simulated account: every family's, in every version, for all its kinds of machines, AL2's too though
 * it has ended; those are marked. Names, tags and parameters find the same ones under the family the class names.
 */
export function imagesFor(spec: Pick<Spec, "amiSelectorTerms" | "amiFamily">): readonly Image[] {
  const family = resolvedAmiFamily(spec) as AmiFamily;
  const images = imagesOf(family, aliasOf(spec)?.version ?? "latest");
  const byTerms = spec.amiSelectorTerms.some(({ id }) => id === undefined);
  const ids = new Set(spec.amiSelectorTerms.flatMap(({ id }) => (id === undefined ? [] : [id])));
  return byTerms ? images : images.filter(({ id }) => ids.has(id));
}

/** The first that fits. (04 §1.7) */
export function imageFor({ requirements }: InstanceType, images: readonly Image[]): Image | undefined {
  return images.find((image) => isCompatible(requirements, demandOf(image)));
}

function imagesOf(family: AmiFamily, version: string): readonly Image[] {
  const { windowsBuild } = amiFamilyTraits[family];
  if (windowsBuild !== undefined) return [image({ family, version, variant: "", arch: "amd64" })];
  const arches = ["amd64", "arm64"] as const;
  return Object.keys(variants).flatMap((variant) => arches.map((arch) => image({ family, version, variant, arch })));
}

interface Print {
  readonly family: AmiFamily;
  readonly version: string;
  readonly variant: string;
  readonly arch: "amd64" | "arm64";
}

function image({ family, version, variant, arch }: Print): Image {
  const { windowsBuild } = amiFamilyTraits[family];
  const windows: readonly RequirementItem[] = [
    { key: labels.os, operator: "In", values: ["windows"] },
    { key: labels.windowsBuild, operator: "In", values: [windowsBuild ?? ""] },
  ];
  const parts = [family.toLowerCase(), arch, ...(variant === "" ? [] : [variant]), version];
  const requirements = [
    { key: labels.arch, operator: "In" as const, values: [arch] },
    ...(windowsBuild === undefined ? (variants[variant] ?? []) : windows),
  ];
  return {
    id: `ami-sim${parts.join("").replace(/[^0-9a-z]/g, "")}`,
    name: `simulated-${parts.join("-")}`,
    ...(family === "AL2" && { deprecated: true }),
    requirements: [...requirements]
      .sort((a, b) => a.key.length - b.key.length || (a.key < b.key ? -1 : 1)) // 04 §1.3
      .map(({ values, ...rest }) => ({ ...rest, ...(values && { values: [...values] }) })),
  };
}

function demandOf({ requirements }: Image): Requirements {
  const items = requirements as readonly RequirementItem[];
  return Requirements.of(...items.map((item) => Requirement.fromItem(item, policy)));
}
