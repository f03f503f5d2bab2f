import type { Provider } from "../label-policy.ts";
import { awsLabels, awsLaunchOnlyLabels, groups, kwokLabels, labels } from "../labels.ts";
import type { CelRule } from "../structural/schema.ts";

/** CEL rules on label keys: which users may set, by provider. (01 §1.2.1, §3.1.4; 06 §2.3 for Azure) */

type LabelUsage = "pool-requirement" | "pool-label" | "claim-requirement" | "overlay-requirement";

interface DomainRule {
  readonly id: string;
  readonly domain: string;
  readonly allowed: readonly string[];
}

const azureSuffixes =
  "aksnodeclass sku-name sku-family sku-series sku-version sku-cpu sku-memory sku-networking-accelerated sku-storage-premium-capable sku-storage-ultra-ssd sku-storage-ephemeralos-maxsize sku-gpu-name sku-gpu-manufacturer sku-gpu-count placement-scope".split(
    " ",
  );
const azureKubernetesSuffixes =
  "mode scalesetpriority priority fips_enabled os-sku cluster sku-cpu sku-memory ebpf-dataplane ebpf-host-routing network-policy hostedvm".split(
    " ",
  );

const coreDomainRule: DomainRule = {
  id: "NP9",
  domain: groups.karpenter,
  allowed: [labels.capacityType, labels.nodePool],
};

const awsDomainRules = (usage: LabelUsage): readonly DomainRule[] => [
  {
    id: "NP12",
    domain: groups.aws,
    allowed: Object.values(awsLabels).filter(
      (label) => usage !== "overlay-requirement" || !awsLaunchOnlyLabels.includes(label),
    ),
  },
];

/** The KWOK chart restricts requirement keys only, not labels. */
const kwokDomainRules = (usage: LabelUsage): readonly DomainRule[] =>
  usage === "pool-label"
    ? []
    : [
        {
          id: "NP12",
          domain: groups.kwok,
          allowed: [
            kwokLabels.nodeClass,
            kwokLabels.instanceCpu,
            kwokLabels.instanceMemory,
            kwokLabels.instanceFamily,
            kwokLabels.instanceSize,
          ],
        },
      ];

const azureDomainRules = (): readonly DomainRule[] => [
  { id: "NP12", domain: groups.azure, allowed: azureSuffixes.map((suffix) => `${groups.azure}/${suffix}`) },
  {
    id: "NP12",
    domain: "kubernetes.azure.com",
    allowed: azureKubernetesSuffixes.map((suffix) => `kubernetes.azure.com/${suffix}`),
  },
];

const azureRefusedNames = ["agentpool", "storageprofile", "storagetier", "accelerator"];

function domainRules(provider: Provider, usage: LabelUsage): readonly DomainRule[] {
  switch (provider) {
    case "kwok":
      return [coreDomainRule, ...kwokDomainRules(usage)];
    case "aws":
      return [coreDomainRule, ...awsDomainRules(usage)];
    case "azure":
      return [coreDomainRule, ...azureDomainRules()];
    case "all":
      return [coreDomainRule, ...kwokDomainRules(usage), ...awsDomainRules(usage), ...azureDomainRules()];
  }
}

/** Rules on one requirement key. */
export function requirementKeyRules(provider: Provider, usage: Exclude<LabelUsage, "pool-label">): readonly CelRule[] {
  const forbidden = usage === "pool-requirement" ? [labels.nodePool, labels.hostname] : [labels.hostname];
  const rules: CelRule[] = domainRules(provider, usage).map(({ id, domain, allowed }) => ({
    id,
    rule: `self in ${celList(allowed)} || !self.split("/")[0].endsWith("${domain}")`,
    message: `label domain "${domain}" is restricted`,
  }));
  for (const label of forbidden) {
    rules.push({
      id: label === labels.nodePool ? "NP10" : "NP11",
      rule: `self != "${label}"`,
      message: `label "${label}" is restricted`,
    });
  }
  if (provider === "azure" || provider === "all") {
    rules.push({
      id: "NP12",
      rule: `!(self in ${celList(azureRefusedNames)})`,
      message: `labels ${azureRefusedNames.join(", ")} are restricted`,
    });
  }
  return rules;
}

/** The same rules on the keys of a label map. */
export function labelRules(provider: Provider): readonly CelRule[] {
  const rules: CelRule[] = domainRules(provider, "pool-label").map(({ id, domain, allowed }) => ({
    id: id === "NP9" ? "NP5" : "NP8",
    rule: `self.all(key, key in ${celList(allowed)} || !key.split("/")[0].endsWith("${domain}"))`,
    message: `label domain "${domain}" is restricted`,
  }));
  rules.push(
    { id: "NP6", rule: `!("${labels.nodePool}" in self)`, message: `label "${labels.nodePool}" is restricted` },
    { id: "NP7", rule: `!("${labels.hostname}" in self)`, message: `label "${labels.hostname}" is restricted` },
  );
  if (provider === "azure" || provider === "all") {
    rules.push({
      id: "NP8",
      rule: `self.all(key, !(key in ${celList(azureRefusedNames)}))`,
      message: `labels ${azureRefusedNames.join(", ")} are restricted`,
    });
  }
  return rules;
}

function celList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(", ")}]`;
}
