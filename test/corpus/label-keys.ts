import type { Provider } from "../../src/api/label-policy.ts";
import type { Case, CaseMaker, Extra } from "./case.ts";

/** Which label keys each provider lets users ask for, spelled out here apart from the rules under test. (01 §3.1.4; 06 §2.3) */

/** `label`: a key of template labels. The others: the key of a requirement. */
export type KeyPlace = "label" | "pool" | "claim" | "overlay";

interface Domain {
  readonly domain: string;
  readonly owner: Exclude<Provider, "all">;
  readonly allowed: readonly string[];
  /** Of the allowed, those an overlay may not select on. */
  readonly launchOnly?: readonly string[];
  /** Where the domain is not restricted at all. */
  readonly openFor?: readonly KeyPlace[];
  /** Names of the domain that exist and are refused all the same. */
  readonly refused: readonly string[];
}

const awsInstance =
  "category generation family size capability-flex cpu cpu-manufacturer cpu-sustained-clock-speed-mhz memory ebs-bandwidth network-bandwidth hypervisor encryption-in-transit-supported local-nvme gpu-name gpu-manufacturer gpu-count gpu-memory accelerator-name accelerator-manufacturer accelerator-count";
const awsLaunchOnly =
  "instance-tenancy capacity-reservation-id capacity-reservation-type capacity-reservation-interruptible placement-group-id placement-group-partition".split(
    " ",
  );
const azureSku =
  "name family series version cpu memory networking-accelerated storage-premium-capable storage-ultra-ssd storage-ephemeralos-maxsize gpu-name gpu-manufacturer gpu-count";

const domains: readonly Domain[] = [
  {
    domain: "karpenter.k8s.aws",
    owner: "aws",
    allowed: [
      "ec2nodeclass",
      "nitro-sandbox",
      ...awsInstance.split(" ").map((name) => `instance-${name}`),
      ...awsLaunchOnly,
    ],
    launchOnly: awsLaunchOnly,
    refused: ["instance-pods"],
  },
  {
    domain: "karpenter.kwok.sh",
    owner: "kwok",
    allowed: ["kwoknodeclass", "instance-cpu", "instance-memory", "instance-family", "instance-size"],
    openFor: ["label"],
    refused: ["reservation-id"],
  },
  {
    domain: "karpenter.azure.com",
    owner: "azure",
    allowed: ["aksnodeclass", "placement-scope", ...azureSku.split(" ").map((name) => `sku-${name}`)],
    refused: ["sku-hyperv-generation"],
  },
  {
    domain: "kubernetes.azure.com",
    owner: "azure",
    allowed:
      "mode scalesetpriority priority fips_enabled os-sku cluster sku-cpu sku-memory ebpf-dataplane ebpf-host-routing network-policy hostedvm".split(
        " ",
      ),
    refused: ["agentpool"],
  },
];

const azureRefusedNames = ["agentpool", "storageprofile", "storagetier", "accelerator"];

const everybodys = [
  "karpenter.sh/capacity-type",
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "node.kubernetes.io/instance-type",
  "kubernetes.io/arch",
  "kubernetes.io/os",
  "node.kubernetes.io/windows-build",
  "topology.k8s.aws/zone-id",
  "topology.ebs.csi.aws.com/zone",
  "topology.disk.csi.azure.com/zone",
  "failure-domain.beta.kubernetes.io/zone",
  "beta.kubernetes.io/arch",
  "kops.k8s.io/instancegroup",
  "node-restriction.kubernetes.io/team",
  "kubernetes.io",
  "k8s.io",
  "sub.kubernetes.io",
  "kubernetes.io/custom",
  "k8s.io/custom",
  "sub.kubernetes.io/custom",
  "sub.k8s.io/custom",
  "karpenter.kwok.x-k8s.io/node",
  "example.com/karpenter.sh",
  "team",
];

/** A suffix test without a dot boundary, on what stands before the slash or on the whole key. (01 §3.1.3) */
const nobodys = [
  "karpenter.sh/custom",
  "karpenter.sh",
  "sub.karpenter.sh/custom",
  "foo.karpenter.sh",
  "notkarpenter.sh/x",
  "karpenter.sh/registered",
];

interface Keys {
  readonly place: KeyPlace;
  /** The changes that put a key in its place. */
  readonly put: (key: string) => Readonly<Record<string, unknown>>;
}

export function labelKeyCases(make: CaseMaker, { place, put }: Keys): readonly Case[] {
  const isLabel = place === "label";
  const rule = (ofLabels: string, ofKeys: string): string => `01:${isLabel ? ofLabels : ofKeys} ${place} key`;
  const take = (title: string, key: string, extra?: Extra): Case => make.accept(`${title} ${key}`, put(key), extra);
  const turnDown = (title: string, key: string, extra?: Extra): Case => make.refuse(`${title} ${key}`, put(key), extra);
  return [
    ...everybodys.map((key) => take(rule("NP5", "NP9"), key)),
    ...nobodys.map((key) => turnDown(rule("NP5", "NP9"), key)),
    (place === "label" || place === "pool" ? turnDown : take)(rule("NP6", "NP10"), "karpenter.sh/nodepool"),
    turnDown(rule("NP7", "NP11"), "kubernetes.io/hostname"),
    ...domains.flatMap((domain) => domainCases(domain)),
    ...azureRefusedNames.map((key) =>
      turnDown(`${rule("NP8", "NP12")} with azure`, key, { providers: ["azure", "all"] }),
    ),
    ...azureRefusedNames.map((key) =>
      take(`${rule("NP8", "NP12")} without azure`, key, { providers: ["kwok", "aws"] }),
    ),
  ];

  function domainCases({ domain, owner, allowed, launchOnly = [], openFor = [], refused }: Domain): readonly Case[] {
    const title = rule("NP8", "NP12");
    const closed = place === "overlay" ? launchOnly : [];
    const unknown = [...closed, ...refused, "unknown"].map((name) => `${domain}/${name}`);
    const strangers = [...unknown, domain, `sub.${domain}/x`, `not${domain}/x`];
    const elsewhere = (["kwok", "aws", "azure"] as const).filter((provider) => provider !== owner);
    return [
      ...allowed.filter((name) => !closed.includes(name)).map((name) => take(title, `${domain}/${name}`)),
      ...(openFor.includes(place)
        ? strangers.map((key) => take(title, key))
        : strangers.flatMap((key) => [
            turnDown(`${title} with ${owner}`, key, { providers: [owner, "all"] }),
            take(`${title} without ${owner}`, key, { providers: elsewhere }),
          ])),
    ];
  }
}
