import type { PodTemplateSpec } from "../../../../api/kubernetes/cluster-objects.ts";
import { canonicalJson } from "../../../../util/canonical-json.ts";
import type { Deployment, ReplicaSet } from "../types.ts";
import { workloadAnnotations, workloadLabels } from "../workload-labels.ts";
import { rolloutSpec } from "./rollout-progress.ts";
import { maxSurge } from "./rollout-sizes.ts";

export function replicaSetCreatedAt({ metadata }: ReplicaSet): number {
  return Date.parse(metadata.creationTimestamp ?? "") || 0;
}

function byCreation(a: ReplicaSet, b: ReplicaSet): number {
  return (
    replicaSetCreatedAt(a) - replicaSetCreatedAt(b) || ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1)
  );
}

/** The oldest set with the same template, apart from the hash label. */
export function findNewReplicaSet({ spec }: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  const wanted = templateIdentity(spec.template);
  return [...sets].sort(byCreation).find((set) => templateIdentity(set.spec.template) === wanted);
}

export function templateIdentity({ metadata, spec }: PodTemplateSpec): string {
  const { [workloadLabels.podTemplateHash]: _, ...labels } = metadata?.labels ?? {};
  return canonicalJson({ metadata: { ...metadata, labels }, spec });
}

export function replicaSetRevision({ metadata }: Pick<ReplicaSet, "metadata">): number {
  return Number(metadata.annotations?.[workloadAnnotations.revision] ?? 0) || 0;
}

const annotationsNotCopied: ReadonlySet<string> = new Set([
  workloadAnnotations.lastApplied,
  workloadAnnotations.revision,
  workloadAnnotations.revisionHistory,
  workloadAnnotations.desiredReplicas,
  workloadAnnotations.maxReplicas,
  workloadAnnotations.rollbackTo,
]);

/** The annotations of the new set: the Deployment's, its revision, and its earlier revisions. */
export function newSetAnnotations(
  deployment: Deployment,
  set: ReplicaSet | undefined,
  revision: number,
): Readonly<Record<string, string>> {
  const before = set?.metadata.annotations ?? {};
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(
    ([key]) => !annotationsNotCopied.has(key),
  );
  const old = set === undefined ? 0 : replicaSetRevision(set);
  const isReused = old !== 0 && old < revision;
  const history = [...revisionHistoryOf(before), ...(isReused ? [String(old)] : [])];
  return {
    ...before,
    ...Object.fromEntries(copied),
    ...(history.length > 0 && { [workloadAnnotations.revisionHistory]: history.join(",") }),
    [workloadAnnotations.revision]: String(Math.max(old, revision)),
    ...(set === undefined && sizeAnnotations(deployment)),
  };
}

function revisionHistoryOf(annotations: Readonly<Record<string, string>>): readonly string[] {
  return (annotations[workloadAnnotations.revisionHistory] ?? "").split(",").filter((one) => one !== "");
}

/** The Deployment's size, which each set records when it is scaled. */
export function sizeAnnotations(deployment: Deployment): Readonly<Record<string, string>> {
  const spec = rolloutSpec(deployment);
  return {
    [workloadAnnotations.desiredReplicas]: String(spec.replicas),
    [workloadAnnotations.maxReplicas]: String(spec.replicas + maxSurge(spec)),
  };
}

export function annotatedNumber({ metadata }: ReplicaSet, annotation: string): number | undefined {
  const written = metadata.annotations?.[annotation] ?? "";
  return /^\d{1,10}$/.test(written) ? Number(written) : undefined;
}

/** Old sets beyond revisionHistoryLimit: lowest revision first, and only those that are empty and observed to be. */
export function setsBeyondHistory({ spec }: Deployment, old: readonly ReplicaSet[]): readonly ReplicaSet[] {
  const limit = spec.revisionHistoryLimit;
  if (limit === undefined) return [];
  const alive = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const byRevision = [...alive].sort((a, b) => replicaSetRevision(a) - replicaSetRevision(b) || byCreation(a, b));
  return byRevision
    .slice(0, Math.max(0, alive.length - limit))
    .filter(
      ({ metadata, spec: { replicas = 0 }, status }) =>
        replicas === 0 &&
        (status?.replicas ?? 0) === 0 &&
        (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0),
    );
}
