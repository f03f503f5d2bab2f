import type { KubeObject, ObjectMeta } from "../../src/api/object.ts";
import type { ResourceType } from "../../src/kube/client.ts";
import { isKubeError, type KubeError } from "../../src/kube/kube-error.ts";

export const types = {
  namespaces: type("", "v1", "Namespace", "namespaces", false),
  nodes: type("", "v1", "Node", "nodes", false),
  pods: type("", "v1", "Pod", "pods"),
  configMaps: type("", "v1", "ConfigMap", "configmaps"),
  services: type("", "v1", "Service", "services"),
  secrets: type("", "v1", "Secret", "secrets"),
  accounts: type("", "v1", "ServiceAccount", "serviceaccounts"),
  events: type("", "v1", "Event", "events"),
  newEvents: type("events.k8s.io", "v1", "Event", "events"),
  limitRanges: type("", "v1", "LimitRange", "limitranges"),
  deployments: type("apps", "v1", "Deployment", "deployments"),
  jobs: type("batch", "v1", "Job", "jobs"),
  budgets: type("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"),
  leases: type("coordination.k8s.io", "v1", "Lease", "leases"),
  priorityClasses: type("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", false),
  runtimeClasses: type("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", false),
  definitions: type("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", false),
  nodePools: type("karpenter.sh", "v1", "NodePool", "nodepools", false),
  nodePoolsBeta: type("karpenter.sh", "v1beta1", "NodePool", "nodepools", false),
  provisioners: type("karpenter.sh", "v1alpha5", "Provisioner", "provisioners", false),
  nodeClasses: type("karpenter.k8s.aws", "v1", "EC2NodeClass", "ec2nodeclasses", false),
} as const;

function type(group: string, version: string, kind: string, plural: string, namespaced = true): ResourceType {
  return { group, version, kind, plural, namespaced };
}

export function configMap(
  name: string,
  data: Readonly<Record<string, string>> = {},
  meta: ObjectMeta = {},
): KubeObject & { readonly data: Readonly<Record<string, string>> } {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default", ...meta }, data };
}

export function pod(name: string, spec: object = {}, meta: ObjectMeta = {}): KubeObject {
  const containers = [{ name: "main", image: "main:1" }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", ...meta },
    spec: { containers, ...spec },
  };
}

/** How a call was refused. */
export async function refusal(promise: Promise<unknown>): Promise<KubeError> {
  const error = await promise.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!isKubeError(error)) throw new Error("expected a refusal", { cause: error });
  return error;
}
