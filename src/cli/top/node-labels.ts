import { coreLabelAliases, labels } from "../../api/labels.ts";

type Labels = Readonly<Record<string, string>>;

/** What a node's labels say about it, whoever made it. */
export interface NodeLabels {
  /** Its NodePool, or the node group of another autoscaler. */
  readonly pool?: string | undefined;
  readonly instanceType?: string | undefined;
  readonly zone?: string | undefined;
  readonly region?: string | undefined;
  /** As Karpenter calls it: on-demand, spot or reserved. */
  readonly capacityType?: string | undefined;
}

/** Labels by which others name their groups of nodes. */
const poolLabels: readonly string[] = [
  labels.nodePool,
  "eks.amazonaws.com/nodegroup",
  "alpha.eksctl.io/nodegroup-name",
  "cloud.google.com/gke-nodepool",
  "kubernetes.azure.com/agentpool",
  "kops.k8s.io/instancegroup",
];

/** Labels by which others say whether a node may be taken away; the values are spelled in several ways. */
const capacityTypeLabels: readonly string[] = [
  labels.capacityType,
  "eks.amazonaws.com/capacityType",
  "node.kubernetes.io/lifecycle",
  "kubernetes.azure.com/scalesetpriority",
];

const capacityTypeWords: Readonly<Record<string, string>> = {
  ON_DEMAND: "on-demand",
  SPOT: "spot",
  CAPACITY_BLOCK: "reserved",
  normal: "on-demand",
  regular: "on-demand",
};

const gkeSpotLabels: readonly string[] = ["cloud.google.com/gke-spot", "cloud.google.com/gke-preemptible"];

export function readNodeLabels(written: Labels): NodeLabels {
  return {
    pool: firstOf(written, poolLabels),
    instanceType: withAlias(written, labels.instanceType),
    zone: withAlias(written, labels.zone),
    region: withAlias(written, labels.region),
    capacityType: capacityTypeOf(written),
  };
}

function capacityTypeOf(written: Labels): string | undefined {
  if (gkeSpotLabels.some((key) => labelValue(written, key) === "true")) return "spot";
  const word = firstOf(written, capacityTypeLabels);
  return word === undefined ? undefined : (labelValue(capacityTypeWords, word) ?? word);
}

/** The label, or an old spelling of it. */
function withAlias(written: Labels, label: string): string | undefined {
  const old = Object.keys(coreLabelAliases).filter((key) => coreLabelAliases[key] === label);
  return firstOf(written, [label, ...old]);
}

function firstOf(written: Labels, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = labelValue(written, key);
    if (value !== undefined && value !== "") return value;
  }
  return undefined;
}

/** Labels come from users, so inherited members must not be read. */
function labelValue(written: Labels, key: string): string | undefined {
  return Object.hasOwn(written, key) ? written[key] : undefined;
}
