import { isDeepStrictEqual } from "node:util";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { LookAgain } from "../../kube/reconciler.ts";
import { custom } from "../../kube/resources.ts";
import { isOvertaken, overtakenMs, patch } from "../writes.ts";

/** What one step made of a claim. */
export interface Step {
  readonly claim: NodeClaim;
  readonly afterMs?: number | undefined;
  /** The claim is written all the same; then it is tried again. */
  readonly error?: unknown;
  /** What is only true once the claim is written: counts, log lines. (03:S-13) */
  readonly told?: (() => void | Promise<void>) | undefined;
  /** It was deleted: nothing is left to write. */
  readonly isGone?: boolean | undefined;
}

export type TakeStep = (claim: NodeClaim) => Promise<Step>;

/** Takes the steps in turn on one claim, writes once what they made of it, and says when to look again. (03:L-2) */
export async function inSteps(
  claim: NodeClaim,
  { client, steps }: { readonly client: KubeClient; readonly steps: readonly TakeStep[] },
): Promise<LookAgain | undefined> {
  const taken = await take(claim, steps);
  const last = taken.at(-1);
  if (last !== undefined && !last.isGone) {
    // Upstream sleeps a second after this, lest it read its own write too late; our views show it at once. (03:L-2)
    await writeClaim(client, { before: claim, after: last.claim });
    for (const { told } of taken) await told?.();
  }
  return settle(taken);
}

async function take(claim: NodeClaim, steps: readonly TakeStep[]): Promise<readonly Step[]> {
  const taken: Step[] = [];
  let current = claim;
  for (const step of steps) {
    const result = await step(current).catch((error: unknown): Step => ({ claim: current, error }));
    taken.push(result);
    current = result.claim;
    if (result.isGone) break;
  }
  return taken;
}

/** Trouble counts over plans; somebody who was faster is no trouble. */
function settle(taken: readonly Step[]): LookAgain | undefined {
  const errors = taken.map(({ error }) => error).filter((error) => error !== undefined);
  const troubles = errors.filter((error) => !isOvertaken(error));
  if (troubles.length > 1) throw new AggregateError(troubles, troubles.map(messageOf).join("; "));
  if (troubles.length === 1) throw troubles[0];
  if (errors.length > 0) return { afterMs: overtakenMs };
  const waits = taken.flatMap(({ afterMs }) => (afterMs === undefined ? [] : [afterMs]));
  return waits.length === 0 ? undefined : { afterMs: Math.min(...waits) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Metadata, then status, as far as they changed; refused where somebody else changed the claim meanwhile. (03:S-10) */
export async function writeClaim(
  client: KubeClient,
  { before, after }: { readonly before: NodeClaim; readonly after: NodeClaim },
): Promise<NodeClaim> {
  const { labels, annotations } = after.metadata;
  const metadata = changed(before.metadata, { labels, annotations });
  const status = changed(before.status ?? {}, after.status ?? {});
  const write = (base: NodeClaim, body: object, subresource?: "status"): Promise<NodeClaim> =>
    patch<NodeClaim>(client, custom.NodeClaim, base, { body, subresource, isLocked: true });
  const marked = metadata === undefined ? before : await write(before, { metadata });
  return status === undefined ? marked : write(marked, { status }, "status");
}

/** The fields that are not as they were. */
export function changed<T extends object>(before: T, after: Partial<T>): Partial<T> | undefined {
  const keys = (Object.keys(after) as (keyof T)[]).filter((key) => !isDeepStrictEqual(before[key], after[key]));
  return keys.length === 0 ? undefined : (Object.fromEntries(keys.map((key) => [key, after[key]])) as Partial<T>);
}
