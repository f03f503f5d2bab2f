import type { AmiAlias } from "../../../api/validation/ami-family.ts";
import { resolvedAmiFamily } from "../../../api/validation/ami-family.ts";
import type { AmiFamily } from "../../../api/vocabulary.ts";
import { amiFamilyTraits } from "../ami-families.ts";
import type { AmiVariant } from "./ami-requirements.ts";

/** The parameter of SSM that holds the id of an image, and what the image is for. (04 §1.7) */
export interface AliasParameter {
  readonly name: string;
  /** One entry of the status for each. */
  readonly variants: readonly AmiVariant[];
  readonly windowsBuild?: string | undefined;
  /** Whether AWS changes it when a newer image is out. */
  readonly isMutable: boolean;
}

const latest = "latest";

/** All images of an alias, for a version of Kubernetes such as 1.33. */
export function aliasParameters(alias: AmiAlias, kubernetesVersion: string): readonly AliasParameter[] {
  const amiFamily = resolvedAmiFamily({ amiSelectorTerms: [{ alias: `${alias.family}@${alias.version}` }] });
  return parametersOf[amiFamily](kubernetesVersion, alias.version).map((parameter) => ({
    ...parameter,
    isMutable: alias.version === latest,
  }));
}

type Parameters = readonly Omit<AliasParameter, "isMutable">[];

const parametersOf: Readonly<Record<AmiFamily, (kubernetes: string, version: string) => Parameters>> = {
  AL2: al2Parameters,
  AL2023: al2023Parameters,
  Bottlerocket: bottlerocketParameters,
  Windows2019: (kubernetes) => windowsParameters("Windows2019", kubernetes),
  Windows2022: (kubernetes) => windowsParameters("Windows2022", kubernetes),
  Windows2025: (kubernetes) => windowsParameters("Windows2025", kubernetes),
  Custom: () => [],
};

const eksImages = "/aws/service/eks/optimized-ami";

function al2Parameters(kubernetes: string, version: string): Parameters {
  const parameter = (folder: string, image: string, variants: readonly AmiVariant[]) => ({
    name: `${eksImages}/${kubernetes}/${folder}/${pinned(version, `${image}-${kubernetes}-${version}`)}/image_id`,
    variants,
  });
  return [
    parameter("amazon-linux-2", "amazon-eks-node", ["standard"]),
    parameter("amazon-linux-2-arm64", "amazon-eks-arm64-node", ["standard"]),
    parameter("amazon-linux-2-gpu", "amazon-eks-gpu-node", ["neuron", "nvidia"]),
  ];
}

function al2023Parameters(kubernetes: string, version: string): Parameters {
  const images: readonly (readonly [arch: string, variant: AmiVariant])[] = [
    ["x86_64", "standard"],
    ["x86_64", "nvidia"],
    ["x86_64", "neuron"],
    ["arm64", "standard"],
    ["arm64", "nvidia"],
  ];
  return images.map(([arch, variant]) => {
    const image = pinned(version, `amazon-eks-node-al2023-${arch}-${variant}-${kubernetes}-${version}`);
    return {
      name: `${eksImages}/${kubernetes}/amazon-linux-2023/${arch}/${variant}/${image}/image_id`,
      variants: [variant],
    };
  });
}

function bottlerocketParameters(kubernetes: string, version: string): Parameters {
  const number = version.replace(/^v/, "");
  const parameter = (flavour: string, arch: string, variants: readonly AmiVariant[]) => ({
    name: `/aws/service/bottlerocket/aws-k8s-${kubernetes}${flavour}/${arch}/${number}/image_id`,
    variants,
  });
  return [
    parameter("", "x86_64", ["standard", "neuron"]),
    parameter("", "arm64", ["standard"]),
    parameter("-nvidia", "x86_64", ["nvidia"]),
    parameter("-nvidia", "arm64", ["nvidia"]),
  ];
}

function windowsParameters(family: AmiFamily, kubernetes: string): Parameters {
  const year = family.slice("Windows".length);
  const { windowsBuild } = amiFamilyTraits[family];
  const name = `/aws/service/ami-windows-latest/Windows_Server-${year}-English-Core-EKS_Optimized-${kubernetes}/image_id`;
  return [{ name, variants: [], windowsBuild }];
}

/** EKS calls the latest image the recommended one. */
function pinned(version: string, image: string): string {
  return version === latest ? "recommended" : image;
}
