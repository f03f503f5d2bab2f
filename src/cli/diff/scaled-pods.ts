import type { ManifestDocument } from "../../api/manifest/document.ts";
import { isKubeObject, isRecord, type KubeObject } from "../../api/object.ts";
import { expandWorkloads } from "../../core/scenario/expand-workloads.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import { controllerKeyOf, objectKeyOf } from "../override-objects.ts";
import { objectDocument } from "../snapshot/snapshot-file.ts";
import { hasSameTemplate } from "./same-template.ts";

/** What becomes of the pods of workloads whose number alone changes. */
export interface ScaledPods {
  /** Workloads whose pods stay what they are. */
  readonly sameTemplates: ReadonlySet<string>;
  readonly added: readonly ManifestDocument[];
  /** Keys of pods that are too many. */
  readonly removed: readonly string[];
}

const scalableKinds: ReadonlySet<string> = new Set(["Deployment", "ReplicaSet", "StatefulSet"]);
const templateKinds: ReadonlySet<string> = new Set([...scalableKinds, "DaemonSet"]);

/** Pods that exist stay where they are when their workload is scaled: only the difference is added or removed. */
export function scaledPods(
  base: readonly ManifestDocument[],
  given: ReadonlyMap<string, ManifestDocument>,
  { nowMs }: { readonly nowMs: number },
): ScaledPods {
  const keys = new Set(base.map(({ object }) => objectKeyOf(object)));
  const podsOf = podsByWorkload(base, new Set(given.keys()));
  const sameTemplates = new Set<string>();
  const added: KubeObject[] = [];
  const removed: string[] = [];
  for (const { object: before } of base) {
    const key = objectKeyOf(before) ?? "";
    const after = given.get(key)?.object;
    const pods = podsOf.get(key) ?? [];
    if (pods.length === 0 || !isKubeObject(before) || !isKubeObject(after)) continue;
    if (!templateKinds.has(before.kind) || !hasSameTemplate(before, after)) continue;
    sameTemplates.add(key);
    if (!scalableKinds.has(after.kind)) continue;
    const scaled = scaledTo(after, { pods, keys });
    added.push(...scaled.added);
    removed.push(...scaled.removed);
  }
  return { sameTemplates, added: added.map((object) => objectDocument(createdAt(object, nowMs), "change")), removed };
}

/** Without a time of its own a pod would count as the oldest, and be scheduled before those that wait already. */
function createdAt(object: KubeObject, nowMs: number): KubeObject {
  return { ...object, metadata: { ...object.metadata, creationTimestamp: rfc3339(nowMs) } };
}

/** A StatefulSet's pods have fixed names; of others the number counts. */
function scaledTo(
  workload: KubeObject,
  { pods, keys }: { readonly pods: readonly OwnedPod[]; readonly keys: ReadonlySet<string | undefined> },
): { readonly added: readonly KubeObject[]; readonly removed: readonly string[] } {
  const made = expandWorkloads([workload]).objects.map(({ object }) => object);
  if (workload.kind === "StatefulSet") {
    const wanted = new Set(made.map(objectKeyOf));
    return {
      added: made.filter((object) => !keys.has(objectKeyOf(object))),
      removed: pods.filter(({ key }) => !wanted.has(key)).map(({ key }) => key),
    };
  }
  const tooMany = Math.max(0, pods.length - made.length);
  return {
    added: made.slice(pods.length),
    removed: inOrderOfRemoval(pods)
      .slice(0, tooMany)
      .map(({ key }) => key),
  };
}

interface OwnedPod {
  readonly key: string;
  readonly pod: KubeObject;
}

/** Pods that are not over, by the workload that owns them directly or through others. */
function podsByWorkload(
  base: readonly ManifestDocument[],
  workloads: ReadonlySet<string>,
): ReadonlyMap<string, readonly OwnedPod[]> {
  const ownerOf = new Map(base.map(({ object }) => [objectKeyOf(object), controllerKeyOf(object)]));
  const found = new Map<string, OwnedPod[]>();
  for (const { object } of base) {
    if (!isKubeObject(object) || object.kind !== "Pod" || isOver(object)) continue;
    const own = objectKeyOf(object) ?? "";
    const seen = new Set([own]); // owners may go round in circles
    for (let key = ownerOf.get(own); key !== undefined && !seen.has(key); key = ownerOf.get(key)) {
      seen.add(key);
      if (!workloads.has(key)) continue;
      const known = found.get(key);
      if (known === undefined) found.set(key, [{ key: own, pod: object }]);
      else known.push({ key: own, pod: object });
    }
  }
  return found;
}

function isOver({ status }: KubeObject): boolean {
  const phase = isRecord(status) ? status["phase"] : undefined;
  return phase === "Succeeded" || phase === "Failed";
}

/** Pods without a node go first, then the youngest, as a ReplicaSet chooses when they are alike otherwise. */
function inOrderOfRemoval(pods: readonly OwnedPod[]): readonly OwnedPod[] {
  const isBound = ({ pod: { spec } }: OwnedPod): boolean => isRecord(spec) && (spec["nodeName"] ?? "") !== "";
  const age = ({ pod }: OwnedPod): string => pod.metadata.creationTimestamp ?? "";
  return [...pods].sort(
    (a, b) => Number(isBound(a)) - Number(isBound(b)) || compare(age(b), age(a)) || compare(b.key, a.key),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
