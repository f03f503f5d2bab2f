import type { Provider } from "../label-policy.ts";
import { awsLabels, awsLaunchOnlyLabels, groups, kwokLabels, labels } from "../labels.ts";
import type { CelRule } from "../structural/schema.ts";

/** CEL rules on label keys: which a user may ask for, by provider. (01 §1.2.1, §3.1.4; 06 §2.8 for Azure) */

type Place = "pool-requirement" | "pool-label" | "claim-requirement" | "overlay-requirement";

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

const core: DomainRule = { id: "NP9", domain: groups.karpenter, allowed: [labels.capacityType, labels.nodePool] };

const aws = (place: Place): readonly DomainRule[] => [
  {
    id: "NP12",
    domain: groups.aws,
    allowed: Object.values(awsLabels).filter(
      (label) => place !== "overlay-requirement" || !awsLaunchOnlyLabels.includes(label),
    ),
  },
];

/** The KWOK chart restricts requirement keys only, not labels. */
const kwok = (place: Place): readonly DomainRule[] =>
  place === "pool-label"
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

const azure = (): readonly DomainRule[] => [
  { id: "NP12", domain: groups.azure, allowed: azureSuffixes.map((suffix) => `${groups.azure}/${suffix}`) },
  {
    id: "NP12",
    domain: "kubernetes.azure.com",
    allowed: azureKubernetesSuffixes.map((suffix) => `kubernetes.azure.com/${suffix}`),
  },
];

const azureRefusedNames = ["agentpool", "storageprofile", "storagetier", "accelerator"];

function domainRules(provider: Provider, place: Place): readonly DomainRule[] {
  switch (provider) {
    case "kwok":
      return [core, ...kwok(place)];
    case "aws":
      return [core, ...aws(place)];
    case "azure":
      return [core, ...azure()];
    case "all":
      return [core, ...kwok(place), ...aws(place), ...azure()];
  }
}

/** Rules on one requirement key. */
export function keyRules(provider: Provider, place: Exclude<Place, "pool-label">): readonly CelRule[] {
  const forbidden = place === "pool-requirement" ? [labels.nodePool, labels.hostname] : [labels.hostname];
  const rules: CelRule[] = domainRules(provider, place).map(({ id, domain, allowed }) => ({
    id,
    rule: `self in ${list(allowed)} || !self.split("/")[0].endsWith("${domain}")`,
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
      rule: `!(self in ${list(azureRefusedNames)})`,
      message: `labels ${azureRefusedNames.join(", ")} are restricted`,
    });
  }
  return rules;
}

/** The same rules on the keys of a label map. */
export function labelRules(provider: Provider): readonly CelRule[] {
  const rules: CelRule[] = domainRules(provider, "pool-label").map(({ id, domain, allowed }) => ({
    id: id === "NP9" ? "NP5" : "NP8",
    rule: `self.all(key, key in ${list(allowed)} || !key.split("/")[0].endsWith("${domain}"))`,
    message: `label domain "${domain}" is restricted`,
  }));
  rules.push(
    { id: "NP6", rule: `!("${labels.nodePool}" in self)`, message: `label "${labels.nodePool}" is restricted` },
    { id: "NP7", rule: `!("${labels.hostname}" in self)`, message: `label "${labels.hostname}" is restricted` },
  );
  if (provider === "azure" || provider === "all") {
    rules.push({
      id: "NP8",
      rule: `self.all(key, !(key in ${list(azureRefusedNames)}))`,
      message: `labels ${azureRefusedNames.join(", ")} are restricted`,
    });
  }
  return rules;
}

function list(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(", ")}]`;
}
