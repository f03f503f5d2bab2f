import type { Ec2NodeClass } from "../../api/kinds/ec2-node-class.ts";
import { amiAliasOf, resolvedAmiFamily } from "../../api/validation/ami-family.ts";
import type { AmiFamily } from "../../api/vocabulary.ts";
import { amiFamilyTraits } from "../aws/ami-families.ts";
import { type Ami, type AmiVariant, amiRequirementsFor, amiVariants } from "../aws/node-class/ami-requirements.ts";

type Spec = NonNullable<Ec2NodeClass["spec"]>;

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

function amisOfFamily(family: AmiFamily, version: string): readonly Ami[] {
  const { windowsBuild } = amiFamilyTraits[family];
  if (windowsBuild !== undefined) return [simulatedAmi({ family, version, variant: undefined, arch: "amd64" })];
  const arches = ["amd64", "arm64"] as const;
  return amiVariants.flatMap((variant) => arches.map((arch) => simulatedAmi({ family, version, variant, arch })));
}

interface AmiSource {
  readonly family: AmiFamily;
  readonly version: string;
  readonly variant: AmiVariant | undefined;
  readonly arch: "amd64" | "arm64";
}

function simulatedAmi({ family, version, variant, arch }: AmiSource): Ami {
  const { windowsBuild } = amiFamilyTraits[family];
  const parts = [family.toLowerCase(), arch, ...(variant === undefined ? [] : [variant]), version];
  return {
    id: `ami-sim${parts.join("").replace(/[^0-9a-z]/g, "")}`,
    name: `simulated-${parts.join("-")}`,
    ...(family === "AL2" && { deprecated: true }),
    requirements: amiRequirementsFor({ arch, variant, windowsBuild }),
  };
}
