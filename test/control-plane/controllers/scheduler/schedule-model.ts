import type { LabelSelector, PodAffinityTerm, SelectorRequirement } from "../../../../src/api/kubernetes/pod.ts";
import type { ApiNode, ApiPod } from "../../../../src/control-plane/controllers/api-pod-and-node.ts";

/** Nodes with what runs on them: all the model looks at. */
export interface ModelWorld {
  readonly nodes: readonly ApiNode[];
  readonly placed: readonly { readonly pod: ApiPod; readonly node: string }[];
  readonly namespaces: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

type Labels = Readonly<Record<string, string>>;

/** Whether a node takes a pod, said as slowly and obviously as possible. */
export function takes(pod: ApiPod, node: ApiNode, world: ModelWorld): boolean {
  return (
    isOpen(pod, node) &&
    toleratesAll(pod, node) &&
    isSelected(pod, node) &&
    hasPorts(pod, node, world) &&
    hasRoom(pod, node, world) &&
    keepsSkew(pod, node, world) &&
    isNearFriends(pod, node, world) &&
    isFarFromFoes(pod, node, world)
  );
}

function isOpen(pod: ApiPod, node: ApiNode): boolean {
  if (node.spec?.unschedulable !== true) return true;
  return isTolerated(pod, { key: "node.kubernetes.io/unschedulable", value: "", effect: "NoSchedule" });
}

function isTolerated(pod: ApiPod, taint: { key: string; value?: string | undefined; effect: string }): boolean {
  return (pod.spec.tolerations ?? []).some((one) => {
    if (one.effect && one.effect !== taint.effect) return false;
    if (one.key && one.key !== taint.key) return false;
    return one.operator === "Exists" || (one.value ?? "") === (taint.value ?? "");
  });
}

function toleratesAll(pod: ApiPod, node: ApiNode): boolean {
  const hard = (node.spec?.taints ?? []).filter(({ effect }) => effect !== "PreferNoSchedule");
  return hard.every((taint) => isTolerated(pod, taint));
}

function isSelected(pod: ApiPod, node: ApiNode): boolean {
  const labels = node.metadata.labels ?? {};
  for (const [key, value] of Object.entries(pod.spec.nodeSelector ?? {})) if (labels[key] !== value) return false;
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return true;
  return required.nodeSelectorTerms.some(({ matchExpressions = [], matchFields = [] }) => {
    if (matchExpressions.length + matchFields.length === 0) return false;
    const fields = { "metadata.name": node.metadata.name ?? "" };
    return matchExpressions.every((one) => holds(one, labels)) && matchFields.every((one) => holds(one, fields));
  });
}

function holds({ key, operator, values = [] }: SelectorRequirement, labels: Labels): boolean {
  const value = labels[key];
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return value !== undefined && Number(value) > Number(values[0]);
    case "Lt":
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
}

function on(node: ApiNode, world: ModelWorld): readonly ApiPod[] {
  return world.placed.filter((one) => one.node === node.metadata.name).map(({ pod }) => pod);
}

function portsOf(pod: ApiPod): readonly number[] {
  return (pod.spec.containers ?? []).flatMap(({ ports = [] }) => ports.flatMap(({ hostPort }) => hostPort ?? []));
}

function hasPorts(pod: ApiPod, node: ApiNode, world: ModelWorld): boolean {
  const taken = on(node, world).flatMap(portsOf);
  return portsOf(pod).every((port) => !taken.includes(port));
}

/** Amounts in the tests are whole cores. */
function cpuOf(pod: ApiPod): number {
  return (pod.spec.containers ?? []).reduce((sum, { resources }) => sum + Number(resources?.requests?.["cpu"] ?? 0), 0);
}

function hasRoom(pod: ApiPod, node: ApiNode, world: ModelWorld): boolean {
  const pods = on(node, world);
  const { cpu = 0, pods: places = 0 } = node.status?.allocatable ?? {};
  if (pods.length + 1 > Number(places)) return false;
  const wanted = cpuOf(pod);
  return wanted === 0 || pods.reduce((sum, one) => sum + cpuOf(one), wanted) <= Number(cpu);
}

function selects(selector: LabelSelector | undefined, labels: Labels): boolean {
  if (selector === undefined) return false;
  const isEqual = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return isEqual && (selector.matchExpressions ?? []).every((one) => holds(one, labels));
}

function keepsSkew(pod: ApiPod, node: ApiNode, world: ModelWorld): boolean {
  const hard = (pod.spec.topologySpreadConstraints ?? []).filter((one) => one.whenUnsatisfiable === "DoNotSchedule");
  return hard.every((constraint) => {
    const { topologyKey, maxSkew, minDomains = 1, labelSelector } = constraint;
    const own = node.metadata.labels?.[topologyKey];
    if (own === undefined) return false;
    const counted = world.nodes.filter((other) => {
      if (!hard.every((one) => other.metadata.labels?.[one.topologyKey] !== undefined)) return false;
      if (constraint.nodeAffinityPolicy !== "Ignore" && !isSelected(pod, other)) return false;
      return constraint.nodeTaintsPolicy !== "Honor" || toleratesAll(pod, other);
    });
    const domains = new Set(counted.map((other) => other.metadata.labels?.[topologyKey]));
    const inDomain = (domain: string | undefined): number =>
      counted
        .filter((other) => other.metadata.labels?.[topologyKey] === domain)
        .flatMap((other) => on(other, world))
        .filter((other) => other.metadata.namespace === pod.metadata.namespace)
        .filter((other) => other.metadata.deletionTimestamp === undefined)
        .filter((other) => selects(labelSelector, other.metadata.labels ?? {})).length;
    const least = domains.size < minDomains ? 0 : Math.min(...[...domains].map(inDomain));
    const self = selects(labelSelector, pod.metadata.labels ?? {}) ? 1 : 0;
    return inDomain(own) + self - least <= maxSkew;
  });
}

/** Whether a term of one pod is about another. */
function isAbout(term: PodAffinityTerm, owner: ApiPod, other: ApiPod, world: ModelWorld): boolean {
  const namespace = other.metadata.namespace ?? "";
  const { namespaces = [], namespaceSelector } = term;
  const isNamed = namespaces.includes(namespace);
  const isChosen = namespaceSelector !== undefined && selects(namespaceSelector, world.namespaces[namespace] ?? {});
  const isOwn = namespaces.length === 0 && namespaceSelector === undefined && owner.metadata.namespace === namespace;
  return (isNamed || isChosen || isOwn) && selects(term.labelSelector, other.metadata.labels ?? {});
}

function isTogether(key: string, a: ApiNode, nodeName: string, world: ModelWorld): boolean {
  const b = world.nodes.find(({ metadata }) => metadata.name === nodeName);
  const value = a.metadata.labels?.[key];
  return value !== undefined && value === b?.metadata.labels?.[key];
}

function isNearFriends(pod: ApiPod, node: ApiNode, world: ModelWorld): boolean {
  const terms = pod.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  if (terms.length === 0) return true;
  if (terms.some(({ topologyKey }) => node.metadata.labels?.[topologyKey] === undefined)) return false;
  const friends = world.placed.filter((one) => terms.every((term) => isAbout(term, pod, one.pod, world)));
  const hasDomain = friends.some((one) =>
    terms.some(({ topologyKey }) =>
      world.nodes.some(
        (other) => other.metadata.name === one.node && other.metadata.labels?.[topologyKey] !== undefined,
      ),
    ),
  );
  if (!hasDomain && terms.every((term) => isAbout(term, pod, pod, world))) return true;
  return terms.every(({ topologyKey }) => friends.some((one) => isTogether(topologyKey, node, one.node, world)));
}

function isFarFromFoes(pod: ApiPod, node: ApiNode, world: ModelWorld): boolean {
  const termsOf = ({ spec }: ApiPod): readonly PodAffinityTerm[] =>
    spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return world.placed.every(
    (one) =>
      !termsOf(pod).some(
        (term) => isAbout(term, pod, one.pod, world) && isTogether(term.topologyKey, node, one.node, world),
      ) &&
      !termsOf(one.pod).some(
        (term) => isAbout(term, one.pod, pod, world) && isTogether(term.topologyKey, node, one.node, world),
      ),
  );
}
