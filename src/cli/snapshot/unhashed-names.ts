import { isKeyInDomains, labelPolicy } from "../../api/label-policy.ts";
import { groups, labels } from "../../api/labels.ts";

/** Namespaces every cluster has. */
export const unhashedNamespaces: ReadonlySet<string> = new Set([
  "default",
  "kube-system",
  "kube-public",
  "kube-node-lease",
]);

export const unhashedPriorityClasses: ReadonlySet<string> = new Set([
  "system-cluster-critical",
  "system-node-critical",
]);

/** Keys of these domains and their subdomains are public names of Kubernetes, Karpenter and the clouds. */
const unhashedDomains = ["kubernetes.io", "k8s.io", "k8s.aws", "amazonaws.com", "azure.com", ...Object.values(groups)];

const policy = labelPolicy("all");
const karpenterDomains = Object.values(groups);
/** A label of every namespace: its own name. */
const namespaceNameLabel = "kubernetes.io/metadata.name";
/** `karpenter.k8s.aws/ec2nodeclass` and similar keys. */
const nodeClassLabelPattern = /^karpenter\.[^/]+\/[a-z0-9]*nodeclass$/;
const objectNameLabels: ReadonlySet<string> = new Set([labels.nodePool, labels.hostname]);

export function isUnhashedKey(key: string): boolean {
  return policy.wellKnown.has(key) || Object.hasOwn(policy.aliases, key) || isKeyInDomains(key, unhashedDomains);
}

/** What the values of a key are: names of objects, of namespaces, values of a provider's catalogue, or the user's own. */
export function labelValueMeaning(key: string): "name" | "namespace" | "catalogue" | "own" {
  if (key === namespaceNameLabel) return "namespace";
  if (objectNameLabels.has(key) || nodeClassLabelPattern.test(key)) return "name";
  const isOfCatalogue =
    policy.wellKnown.has(key) || Object.hasOwn(policy.aliases, key) || isKeyInDomains(key, karpenterDomains);
  return isOfCatalogue ? "catalogue" : "own";
}
