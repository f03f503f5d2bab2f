import {
  awsLabels,
  awsZoneId,
  capacityTypes,
  coreLabelAliases,
  coreWellKnownLabels,
  groups,
  kwokLabels,
  labels,
  resources,
} from "./labels.ts";

/** The provider whose rules apply. `all` is the union, which the sandbox installs. */
export const providers = ["kwok", "aws", "azure", "all"] as const;
export type Provider = (typeof providers)[number];

/** What a provider adds to the core rules about labels. Passed as a value: there is no global registry. */
export interface LabelPolicy {
  readonly wellKnown: ReadonlySet<string>;
  readonly restrictedDomains: readonly string[];
  readonly aliases: Readonly<Record<string, string>>;
  /** Old spellings of values and their replacements, by normalised key. */
  readonly valueAliases: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Keys with known values: a requirement with only unknown values is an error. (01 §4.2) */
  readonly knownValues: Readonly<Record<string, readonly string[]>>;
  /** Resources a NodeOverlay may not set. (01 §3.5) */
  readonly wellKnownResources: ReadonlySet<string>;
}

type Additions = Partial<Omit<LabelPolicy, "wellKnown" | "wellKnownResources">> & {
  readonly wellKnown?: readonly string[];
  readonly wellKnownResources?: readonly string[];
};

const { nodeClass: _ec2NodeClass, ...awsTypeLabels } = awsLabels;

const aws: Additions = {
  wellKnown: [...Object.values(awsTypeLabels), awsZoneId],
  restrictedDomains: [groups.aws],
  aliases: { "topology.ebs.csi.aws.com/zone": labels.zone },
  knownValues: { [awsLabels.instanceTenancy]: ["default", "dedicated"] },
  wellKnownResources: [resources.podEni, resources.neuron, resources.neuronCore, resources.gaudi, resources.efa],
};

const kwok: Additions = {
  wellKnown: [
    kwokLabels.instanceSize,
    kwokLabels.instanceFamily,
    kwokLabels.instanceCpu,
    kwokLabels.instanceMemory,
    kwokLabels.reservationId,
  ],
  restrictedDomains: [groups.kwok],
};

const azure: Additions = {
  restrictedDomains: [groups.azure],
  aliases: { "topology.disk.csi.azure.com/zone": labels.zone },
};

const additions: Readonly<Record<Provider, readonly Additions[]>> = {
  kwok: [kwok],
  aws: [aws],
  azure: [azure],
  all: [kwok, aws, azure],
};

/** The label rules in force with one provider, or with all of them. */
export function labelPolicy(provider: Provider): LabelPolicy {
  const added = additions[provider];
  return {
    wellKnown: new Set([...coreWellKnownLabels, ...added.flatMap((one) => one.wellKnown ?? [])]),
    restrictedDomains: [groups.karpenter, ...added.flatMap((one) => one.restrictedDomains ?? [])],
    aliases: Object.assign({}, coreLabelAliases, ...added.map((one) => one.aliases)),
    valueAliases: Object.assign({}, ...added.map((one) => one.valueAliases)),
    knownValues: Object.assign({ [labels.capacityType]: capacityTypes }, ...added.map((one) => one.knownValues)),
    wellKnownResources: new Set([
      resources.cpu,
      resources.memory,
      resources.ephemeralStorage,
      resources.pods,
      ...added.flatMap((one) => one.wellKnownResources ?? []),
    ]),
  };
}

/** The current spelling of a requirement key. (01 §3.1.2) */
export function normalizedKey(policy: LabelPolicy, key: string): string {
  return Object.hasOwn(policy.aliases, key) ? (policy.aliases[key] ?? key) : key;
}

/** Whether a user may not set this label on a pool. Subdomains match only at a dot, unlike in the CEL rule. (01 §3.1.3) */
export function isRestrictedLabel(policy: LabelPolicy, key: string): boolean {
  if (policy.wellKnown.has(key)) return false;
  if (key === labels.hostname) return true;
  return isKeyInDomains(key, policy.restrictedDomains);
}

/** Whether the key's prefix is one of the domains or a subdomain of one. */
export function isKeyInDomains(key: string, domains: readonly string[]): boolean {
  const prefix = key.slice(0, Math.max(key.indexOf("/"), 0));
  return domains.some((domain) => prefix === domain || prefix.endsWith(`.${domain}`));
}
