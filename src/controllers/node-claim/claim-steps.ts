import { isDeepStrictEqual } from "node:util";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { ReconcileResult } from "../../kube/reconciler.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { errorMessage } from "../../util/error-text.ts";
import { conflictRetryMs, isConflictOrNotFound, mergePatchObject } from "../writes.ts";

/** The result of one step over a claim. */
export interface ClaimStepResult {
  readonly claim: NodeClaim;
  readonly afterMs?: number | undefined;
  /** The claim is written all the same; then the steps are retried. */
  readonly error?: unknown;
  /** What may be counted and logged only once the claim is written. (03:S-13) */
  readonly afterWrite?: (() => void | Promise<void>) | undefined;
  /** The claim was deleted: there is nothing left to write. */
  readonly isDeleted?: boolean | undefined;
}

export type ClaimStep = (claim: NodeClaim) => Promise<ClaimStepResult>;

/** Runs the steps one after the other, writes their result once, and says when to reconcile again. (03:L-2) */
export async function runClaimSteps(
  claim: NodeClaim,
  { client, steps }: { readonly client: KubeClient; readonly steps: readonly ClaimStep[] },
): Promise<ReconcileResult> {
  const results = await runEach(claim, steps);
  const last = results.at(-1);
  if (last !== undefined && !last.isDeleted) {
    // Upstream sleeps a second after this, so as to read its own write; our views show it at once. (03:L-2)
    await writeClaim(client, { before: claim, after: last.claim });
    for (const { afterWrite } of results) await afterWrite?.();
  }
  return requeueOf(results);
}

async function runEach(claim: NodeClaim, steps: readonly ClaimStep[]): Promise<readonly ClaimStepResult[]> {
  const results: ClaimStepResult[] = [];
  let current = claim;
  for (const step of steps) {
    const result = await step(current).catch((error: unknown): ClaimStepResult => ({ claim: current, error }));
    results.push(result);
    current = result.claim;
    if (result.isDeleted) break;
  }
  return results;
}

/** Errors come before requeues; a conflict is not an error. */
function requeueOf(results: readonly ClaimStepResult[]): ReconcileResult {
  const errors = results.map(({ error }) => error).filter((error) => error !== undefined);
  const failures = errors.filter((error) => !isConflictOrNotFound(error));
  if (failures.length > 1) throw new AggregateError(failures, failures.map(errorMessage).join("; "));
  if (failures.length === 1) throw failures[0];
  if (errors.length > 0) return { afterMs: conflictRetryMs };
  const waits = results.flatMap(({ afterMs }) => (afterMs === undefined ? [] : [afterMs]));
  return waits.length === 0 ? undefined : { afterMs: Math.min(...waits) };
}

/** Writes metadata, then status, as far as they changed; a conflict if the claim was changed meanwhile. (03:S-10) */
export async function writeClaim(
  client: KubeClient,
  { before, after }: { readonly before: NodeClaim; readonly after: NodeClaim },
): Promise<NodeClaim> {
  const { labels, annotations } = after.metadata;
  const metadata = changedFields(before.metadata, { labels, annotations });
  const status = changedFields(before.status ?? {}, after.status ?? {});
  const write = (base: NodeClaim, body: object, subresource?: "status"): Promise<NodeClaim> =>
    mergePatchObject<NodeClaim>(client, karpenterTypes.NodeClaim, base, { body, subresource, hasOptimisticLock: true });
  const patched = metadata === undefined ? before : await write(before, { metadata });
  return status === undefined ? patched : write(patched, { status }, "status");
}

/** The fields that changed. */
function changedFields<T extends object>(before: T, after: Partial<T>): Partial<T> | undefined {
  const keys = (Object.keys(after) as (keyof T)[]).filter((key) => !isDeepStrictEqual(before[key], after[key]));
  return keys.length === 0 ? undefined : (Object.fromEntries(keys.map((key) => [key, after[key]])) as Partial<T>);
}
