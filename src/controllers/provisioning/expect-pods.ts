import type { Pod } from "../../api/kubernetes/pod.ts";
import { type KubeObject, namespacedName, namespaceOf } from "../../api/object.ts";
import { isActivePod, isProvisionable } from "../../core/pod-predicates.ts";
import { canBeExpected, expectedPods, expectedReplicaSetOf, replicaSetOf } from "../../core/round/expected-pods.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { Cluster } from "../../state/cluster.ts";
import { forEachConcurrent } from "../../util/concurrent.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { podView } from "../node/pods-of-node.ts";
import { forEachInSlices } from "./run-in-slices.ts";

/** Pods that do not exist yet, for a round. */
export interface ExpectedRoundPods {
  readonly pods: readonly Pod[];
  /** The claim each is planned on by the last round, by pod. */
  readonly claims: ReadonlyMap<string, string>;
}

export const nothingExpected: ExpectedRoundPods = { pods: [], claims: new Map() };

/** A ReplicaSet is still creating pods if one was new in the last windows: many that are created at once wait for each other. */
const recentWindows = 3;
/** How many ReplicaSets are read for a round, and how many of them at a time. */
const maxReplicaSets = 200;
const maxReadsAtOnce = 20;

/** The pods that come after those of the round: those that their ReplicaSets have yet to create. (02:P-35) */
export async function expectPods(
  pending: readonly Pod[],
  places: ReadonlyMap<string, string[]>,
  context: KarpenterContext,
): Promise<ExpectedRoundPods> {
  const pods = await missingPods(pending, context);
  return { pods, claims: claimsOf(pods, places) };
}

/** A pod that has come takes a place that was planned for it, and is nominated there when the node joins. (02:P-35) */
export function takeExpectedPlace(pod: Pod, { plannedPods, expectedPlaces }: Cluster): void {
  if (expectedPlaces.isEmpty) return;
  const key = namespacedName(pod.metadata);
  const replicaSet = replicaSetOf(pod)?.uid;
  if (replicaSet === undefined || plannedPods.isDecided(key) || !canBeExpected(pod)) return;
  const claim = expectedPlaces.take(replicaSet);
  if (claim !== undefined) plannedPods.plan(key, claim);
}

/** For the pods that came while the round ran. */
export async function takeExpectedPlaces(context: KarpenterContext): Promise<void> {
  if (context.cluster.expectedPlaces.isEmpty) return;
  const visit = (pod: Pod): void => {
    if (isProvisionable(pod)) takeExpectedPlace(pod, context.cluster);
  };
  await forEachInSlices(podView(context).all(), { budget: context.openBudget(), visit });
}

/** The places that are left stay with the pods that have still not come. */
function claimsOf(pods: readonly Pod[], places: ReadonlyMap<string, string[]>): ReadonlyMap<string, string> {
  const claims = new Map<string, string>();
  for (const pod of pods) {
    const claim = places.get(expectedReplicaSetOf(pod) ?? "")?.shift();
    if (claim !== undefined) claims.set(namespacedName(pod.metadata), claim);
  }
  return claims;
}

async function missingPods(pending: readonly Pod[], context: KarpenterContext): Promise<readonly Pod[]> {
  const creating = await creatingReplicaSets(pending, context);
  const missing = new Map<string, number>();
  const errors = await forEachConcurrent(creating, {
    limit: maxReadsAtOnce,
    run: async ([uid, { newest, created }]) => {
      missing.set(uid, (await replicasOf(newest, context)) - created);
    },
  });
  // A ReplicaSet that cannot be read is no reason to leave the pods of the round waiting.
  if (errors.length > 0) context.log.debug("cannot read replicasets", { error: errors[0] });
  return expectedPods(
    [...creating].map(([uid, { newest }]) => ({ uid, example: newest, missing: missing.get(uid) ?? 0 })),
  );
}

/** A ReplicaSet that was still creating pods a moment ago. */
interface CreatingReplicaSet {
  newest: Pod;
  /** How many of its pods are bound, part of the round, or held back by scheduling gates. */
  created: number;
}

/** By uid, from their pods. */
async function creatingReplicaSets(
  pending: readonly Pod[],
  context: KarpenterContext,
): Promise<ReadonlyMap<string, CreatingReplicaSet>> {
  const { clock, settings } = context;
  const since = new Date(clock.now() - recentWindows * settings.batchMaxMs).toISOString();
  const inRound = new Set(pending.map(({ metadata }) => metadata.uid));
  const sets = new Map<string, CreatingReplicaSet>();
  const visit = (pod: Pod): void => {
    const uid = replicaSetOf(pod)?.uid;
    if (uid === undefined || !isActivePod(pod) || !canBeExpected(pod)) return;
    const set = sets.get(uid) ?? { newest: pod, created: 0 };
    if (createdAt(pod) > createdAt(set.newest)) set.newest = pod;
    if (inRound.has(pod.metadata.uid) || isSettled(pod)) set.created++;
    sets.set(uid, set);
  };
  await forEachInSlices(podView(context).all(), { budget: context.openBudget(), visit });
  const creating = [...sets].filter(([, { newest }]) => createdAt(newest) >= since);
  return new Map(creating.slice(0, maxReplicaSets));
}

/** Times of the API server can be compared as they are written. */
function createdAt({ metadata }: Pod): string {
  return metadata.creationTimestamp ?? "";
}

/** Others were only just created: the scheduler has not tried them yet, and they are expected like those still to come. */
function isSettled({ spec, status }: Pod): boolean {
  return Boolean(spec.nodeName) || Boolean(status?.nominatedNodeName) || (spec.schedulingGates ?? []).length > 0;
}

type ReplicaSetObject = KubeObject & {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
};

/** How many pods the ReplicaSet wants; none that it fails to create, as where a quota is used up. */
async function replicasOf(pod: Pod, { client }: KarpenterContext): Promise<number> {
  const { name = "", uid } = replicaSetOf(pod) ?? {};
  const key = { namespace: namespaceOf(pod.metadata), name };
  const { metadata, spec, status } = await client.get<ReplicaSetObject>(builtInTypes.ReplicaSet, key);
  if (metadata.uid !== uid || metadata.deletionTimestamp !== undefined) return 0;
  const isFailing = status?.conditions?.some((one) => one.type === "ReplicaFailure" && one.status === "True");
  return isFailing ? 0 : (spec?.replicas ?? 1);
}
