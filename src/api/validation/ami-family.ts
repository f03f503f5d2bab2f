import { type AmiFamily, amiFamilies } from "../vocabulary.ts";

/** AMI families by the name used in an alias, such as `al2023@latest`. (01:EC10) */
const familyOfAlias: ReadonlyMap<string, AmiFamily> = new Map(
  amiFamilies.filter((family) => family !== "Custom").map((family) => [family.toLowerCase(), family]),
);

/** The part of an EC2NodeClass spec that selects images. */
export interface AmiSelection {
  readonly amiFamily?: AmiFamily | undefined;
  readonly amiSelectorTerms?: readonly { readonly alias?: string | undefined }[] | undefined;
}

export interface AmiAlias {
  readonly family: string;
  readonly version: string;
}

/** The parts of an alias like `al2023@v20240807`. By admission an alias is the only term. (01:EC8) */
export function amiAliasOf({ amiSelectorTerms }: AmiSelection): AmiAlias | undefined {
  const text = amiSelectorTerms?.find(({ alias }) => alias !== undefined)?.alias;
  const at = text?.indexOf("@") ?? -1;
  return text === undefined || at < 0 ? undefined : { family: text.slice(0, at), version: text.slice(at + 1) };
}

/** The family: the field, else the one of the alias. Admission rejects a spec with neither. (01 §1.6.5) */
export function resolvedAmiFamily(spec: AmiSelection): AmiFamily {
  if (spec.amiFamily) return spec.amiFamily;
  const alias = amiAliasOf(spec);
  return alias === undefined ? "Custom" : (familyOfAlias.get(alias.family) ?? "Custom");
}
