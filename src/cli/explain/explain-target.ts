import type { Pod } from "../../api/kubernetes/pod.ts";
import { editDistance } from "../../api/manifest/closest-match.ts";
import { type KubeObject, namespacedName, namespaceOf } from "../../api/object.ts";
import { controllerOf, type FindObject } from "../../core/explain/commands/template-owner.ts";
import { isTerminalPod } from "../../core/pod-predicates.ts";

/** What somebody asks about: a pod, or something that makes pods. */
export interface ExplainTarget {
  /** As Kubernetes spells it where it is known, else as it was written. */
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  /** Whether the namespace was given, and is not only the default. */
  readonly isNamespaceGiven: boolean;
}

/** kubectl's short names and plurals. */
const kindNames: Readonly<Record<string, string>> = {
  po: "Pod",
  pod: "Pod",
  deploy: "Deployment",
  deployment: "Deployment",
  sts: "StatefulSet",
  statefulset: "StatefulSet",
  rs: "ReplicaSet",
  replicaset: "ReplicaSet",
  ds: "DaemonSet",
  daemonset: "DaemonSet",
  rc: "ReplicationController",
  replicationcontroller: "ReplicationController",
  job: "Job",
  cj: "CronJob",
  cronjob: "CronJob",
  no: "Node",
  node: "Node",
};

/** The kind a person means; a group behind a point is left out. */
export function explainedKind(word: string): string {
  const bare = word.toLowerCase().replace(/\..*$/, "");
  return kindNames[bare] ?? kindNames[bare.replace(/s$/, "")] ?? bare;
}

/** Reads `NAMESPACE/NAME` or `NAME`. */
export function explainTarget(
  kind: string,
  written: string,
  { namespace, fallback }: { readonly namespace: string | undefined; readonly fallback: string },
): ExplainTarget {
  const slash = written.indexOf("/");
  const own = slash < 0 ? undefined : written.slice(0, slash);
  return {
    kind,
    name: written.slice(slash + 1),
    namespace: own ?? namespace ?? fallback,
    isNamespaceGiven: own !== undefined || namespace !== undefined,
  };
}

function targetText({ kind, namespace, name }: ExplainTarget): string {
  return `${kind === "Pod" ? "pod" : kind} ${namespace}/${name}`;
}

/** Which pod is explained, and what to say about the choice; or why there is none. */
export type ChosenPod =
  | { readonly key: string; readonly notes: readonly string[] }
  | { readonly because: string; readonly isScheduled: boolean };

type PodObject = KubeObject & Pod;

interface ChoiceInput {
  readonly pods: readonly KubeObject[];
  readonly find: FindObject;
  /** Pods that are known to have no place come first. */
  readonly isRefused?: (key: string) => boolean;
}

/** The pod of that name, else a pending pod whose name begins so, or a pending pod of the owner. */
export function choosePod(target: ExplainTarget, { pods, find, isRefused = () => false }: ChoiceInput): ChosenPod {
  const all = pods as readonly PodObject[];
  const here = all.filter(({ metadata }) => namespaceOf(metadata) === target.namespace);
  if (target.kind !== "Pod") {
    const owned = here.filter((pod) => isOwnedBy(pod, target, find));
    return chooseOwned(target, owned, isRefused);
  }
  if (here.some(({ metadata }) => metadata.name === target.name))
    return { key: `${target.namespace}/${target.name}`, notes: [] };
  const elsewhere = target.isNamespaceGiven ? [] : all.filter(({ metadata }) => metadata.name === target.name);
  const [found, another] = elsewhere.map(({ metadata }) => namespacedName(metadata));
  if (found !== undefined && another === undefined)
    return { key: found, notes: [`there is no ${targetText(target)}; this is ${found}`] };
  const pending = here.filter((pod) => isPending(pod) && pod.metadata.name?.startsWith(target.name));
  const [first, ...others] = keysOf(pending, isRefused);
  if (first !== undefined) {
    const which = others.length === 0 ? "the pending pod" : `the first of ${pending.length} pending pods`;
    return { key: first, notes: [`${first} is ${which} whose name begins with ${target.name}${othersText(others)}`] };
  }
  const names = all.map(({ metadata }) => namespacedName(metadata));
  return {
    because: `there is no ${targetText(target)}${closestText(`${target.namespace}/${target.name}`, names)}`,
    isScheduled: false,
  };
}

function chooseOwned(
  target: ExplainTarget,
  owned: readonly PodObject[],
  isRefused: (key: string) => boolean,
): ChosenPod {
  const [first, ...others] = keysOf(owned.filter(isPending), isRefused);
  if (first !== undefined) {
    const which = others.length === 0 ? "the pending pod" : `one of ${others.length + 1} pending pods`;
    return { key: first, notes: [`${first} is ${which} of ${targetText(target)}${othersText(others)}`] };
  }
  if (owned.length === 0) {
    return { because: `no pod of ${targetText(target)} was found; check its name and namespace`, isScheduled: false };
  }
  return {
    because: `${targetText(target)} has no pending pod: its ${owned.length === 1 ? "pod has" : `${owned.length} pods have`} a node`,
    isScheduled: true,
  };
}

function keysOf(pods: readonly PodObject[], isRefused: (key: string) => boolean): readonly string[] {
  const keys = pods.map(({ metadata }) => namespacedName(metadata));
  return [...keys.filter(isRefused), ...keys.filter((key) => !isRefused(key))];
}

function isPending(pod: PodObject): boolean {
  return (pod.spec.nodeName ?? "") === "" && !isTerminalPod(pod) && pod.metadata.deletionTimestamp === undefined;
}

const maxOwners = 8;

/** Whether following controllers from a pod leads to the owner. */
function isOwnedBy(pod: PodObject, { kind, name }: ExplainTarget, find: FindObject): boolean {
  let next = controllerOf(pod.metadata);
  for (let steps = 0; next !== undefined && steps < maxOwners; steps++) {
    const object = find(next);
    const kinds = [next.kind, object?.kind].map((one) => one?.toLowerCase());
    if (
      next.name === name &&
      (kinds.includes(kind.toLowerCase()) || kinds.includes(kind.toLowerCase().replace(/s$/, "")))
    )
      return true;
    next = object && controllerOf(object.metadata);
  }
  return false;
}

const othersShown = 5;

function othersText(others: readonly string[]): string {
  if (others.length === 0) return "";
  const more = others.length > othersShown ? ` and ${others.length - othersShown} more` : "";
  return `; the others: ${others.slice(0, othersShown).join(", ")}${more}`;
}

const namesShown = 3;

/** The names that are spelled most similarly. */
export function closestText(word: string, names: readonly string[]): string {
  const closest = names
    .map((name) => ({ name, distance: editDistance(word, name) }))
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, namesShown)
    .map(({ name }) => name);
  return closest.length === 0 ? "" : `; the closest names are ${closest.join(", ")}`;
}
