import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import { amiAliasOf } from "../../../api/validation/ami-family.ts";

type Spec = NonNullable<Ec2NodeClass["spec"]>;
type Version = readonly [major: number, minor: number];

const firstWithDefaultMounts: Version = [1, 46];

/**
 * Whether the Bottlerocket image mounts the usual folders by itself. Its version is that of the alias, else of the names
 * that select it, else of its own name; an unknown version is taken for an old one. (04 §1.9)
 */
export function bindsDefaultMounts(spec: Spec, imageName: string | undefined): boolean {
  const alias = amiAliasOf(spec);
  if (alias?.version === "latest") return true;
  const names = [...spec.amiSelectorTerms.map(({ name }) => name), imageName];
  const [version] = [aliasVersion(alias?.version), ...names.map(versionInName)].filter((one) => one !== undefined);
  if (version === undefined) return false;
  const [major, minor] = version;
  return (
    major > firstWithDefaultMounts[0] || (major === firstWithDefaultMounts[0] && minor >= firstWithDefaultMounts[1])
  );
}

function aliasVersion(text: string | undefined): Version | undefined {
  return parsedVersion(/^v?(\d+)\.(\d+)\.\d+/.exec(text ?? ""));
}

function versionInName(name: string | undefined): Version | undefined {
  return parsedVersion(/-v(\d+)\.(\d+)\.\d+/.exec(name ?? ""));
}

function parsedVersion(match: RegExpExecArray | null): Version | undefined {
  return match === null ? undefined : [Number(match[1]), Number(match[2])];
}
