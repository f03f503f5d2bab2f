import type { Case } from "./case.ts";
import { accept, choice, field, range, refuse } from "./ec2-table.ts";

/** The machine's smaller settings: tags, kubelet, metadata service, processor. (01:EC14–EC19, §1.6.1) */

const tags = field("spec.tags");

export const tagCases: readonly Case[] = [
  ...tags.accepts({
    "01:EC14 no tags": {},
    "01:EC14 tags with any key": { team: "a", "example.com/cost": "b" },
    "01:EC14 a tag with an empty value": { team: "" },
    "01:EC14 a key of one space": { " ": "a" },
    "01:EC15 another eks key": { "eks:cluster-name": "a" },
    "01:EC16 another kubernetes.io key": { "kubernetes.io/created-for": "a" },
    "01:EC16 the prefix in the middle": { "x.kubernetes.io/cluster/a": "owned" },
    "01:EC17 other karpenter.sh keys": { "karpenter.sh/discovery": "a", "karpenter.sh/nodepools": "b" },
    "01:EC19 another karpenter.k8s.aws key": { "karpenter.k8s.aws/cluster": "a" },
    "01 §1.6.1 tags have no limit of their own": Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`tag-${index}`, "x"]),
    ),
    "01 §0.1 a null tag is dropped before rules look": { "karpenter.sh/nodepool": null },
  }),
  ...tags.refuses({
    "01:EC14 an empty key": { "": "a" },
    "01:EC14 an empty key among others": { team: "a", "": "" },
    "01:EC15 eks:eks-cluster-name": { "eks:eks-cluster-name": "a" },
    "01:EC16 a cluster tag": { "kubernetes.io/cluster/mine": "owned" },
    "01:EC16 the bare prefix": { "kubernetes.io/cluster": "a" },
    "01:EC16 any key with the prefix": { "kubernetes.io/clusters": "a" },
    "01:EC17 karpenter.sh/nodepool": { "karpenter.sh/nodepool": "a" },
    "01:EC18 karpenter.sh/nodeclaim": { "karpenter.sh/nodeclaim": "a" },
    "01:EC19 karpenter.k8s.aws/ec2nodeclass": { "karpenter.k8s.aws/ec2nodeclass": "a" },
    "01:EC17 a restricted key among others": { team: "a", "karpenter.sh/nodepool": "" },
  }),
];

const nested = {
  systemReserved: { cpu: "100m" },
  evictionSoft: { "memory.available": "5%" },
  clusterDNS: ["10.0.0.10"],
};
const kubelet = (title: string, value: unknown): Case =>
  accept(title, { "spec.kubelet": value }, { stored: { "spec.kubelet": value } });

/** The API server stores whatever it holds; the controller judges. (01 §1.6.4) */
export const kubeletCases: readonly Case[] = [
  kubelet("01 §1.6.4 kubelet settings", { maxPods: 110, cpuCFSQuota: true }),
  kubelet("01 §1.6.4 a kubelet field nobody knows is kept", { someDay: "perhaps" }),
  kubelet("01 §1.6.4 kubelet settings the controller will refuse", { maxPods: -1, evictionHard: { nonsense: "x" } }),
  kubelet("01 §1.6.4 a nested kubelet subtree stays as it is", { ...nested, deep: { a: [{ b: [1, 2.5, null] }] } }),
  kubelet("01 §1.6.4 an empty kubelet", {}),
  kubelet("01 §1.6.4 null inside the kubelet is kept", { maxPods: null }),
  refuse("01 §1.6.4 a kubelet that is a list", { "spec.kubelet": [] }),
  refuse("01 §1.6.4 a kubelet that is text", { "spec.kubelet": "maxPods: 110" }),
];

const defaults = {
  httpEndpoint: "enabled",
  httpProtocolIPv6: "disabled",
  httpPutResponseHopLimit: 1,
  httpTokens: "required",
};
const options = (title: string, value: unknown, stored: unknown): Case =>
  accept(title, { "spec.metadataOptions": value }, { stored: { "spec.metadataOptions": stored } });

export const metadataOptionCases: readonly Case[] = [
  options("01 §1.6.1 metadataOptions absent: the default", undefined, defaults),
  options("01 §1.6.1 metadataOptions null: the default", null, defaults),
  options("01 §1.6.1 metadataOptions empty: each default", {}, defaults),
  options(
    "01 §1.6.1 metadataOptions in part: the others default",
    { httpTokens: "optional" },
    { ...defaults, httpTokens: "optional" },
  ),
  options("01 §1.6.1 metadataOptions with null for a field: its default", { httpEndpoint: null }, defaults),
  options(
    "01 §1.6.1 metadataOptions all set",
    { httpEndpoint: "disabled", httpProtocolIPv6: "enabled", httpPutResponseHopLimit: 34, httpTokens: "optional" },
    { httpEndpoint: "disabled", httpProtocolIPv6: "enabled", httpPutResponseHopLimit: 34, httpTokens: "optional" },
  ),
  ...choice("spec.metadataOptions.httpEndpoint", { of: ["enabled", "disabled"], not: ["on", "Enabled", ""] }),
  ...choice("spec.metadataOptions.httpProtocolIPv6", { of: ["enabled", "disabled"], not: ["on", ""] }),
  ...choice("spec.metadataOptions.httpTokens", { of: ["required", "optional"], not: ["none", ""] }),
  ...range("spec.metadataOptions.httpPutResponseHopLimit", { min: 1, max: 64 }),
];

export const cpuOptionCases: readonly Case[] = [
  accept("01 §1.6.1 empty cpuOptions", { "spec.cpuOptions": {} }),
  ...choice("spec.cpuOptions.nestedVirtualization", { of: ["enabled", "disabled"], not: ["on", ""] }),
];

export const otherSettingCases: readonly Case[] = [
  ...choice("spec.instanceStorePolicy", { of: ["RAID0"], not: ["RAID1", "raid0", ""] }),
  // Where nothing else bounds a number, its width does.
  ...range("spec.ipPrefixCount", { min: 0, max: 2_147_483_647 }),
  ...field("spec.associatePublicIPAddress").accepts({
    "01 §1.6.1 associatePublicIPAddress true": true,
    "01 §1.6.1 associatePublicIPAddress false": false,
    "01 §1.6.1 associatePublicIPAddress absent": undefined,
  }),
  accept("01 §1.6.1 detailedMonitoring and context", { "spec.detailedMonitoring": true, "spec.context": "" }),
];
