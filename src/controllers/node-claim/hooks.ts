import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { HookAnswer, RegistrationHook } from "../../cloud/provider.ts";

/** What all hooks together say. */
export interface HookAnswers {
  /** Names of those that are pending or failed. */
  readonly pending: readonly string[];
  readonly afterMs: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly error: unknown;
}

/** Asks every hook at once: the slowest decides, and all that hold the node up are named. (03:L-12) */
export async function askHooks(claim: NodeClaim, hooks: readonly RegistrationHook[]): Promise<HookAnswers> {
  const settled = await Promise.allSettled(hooks.map(async (hook) => hook.registered(claim)));
  const answers = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const errors = settled.flatMap((one, index) =>
    one.status === "rejected" ? [failure(hooks[index], one.reason)] : [],
  );
  const waits = answers.flatMap(({ isPending, afterMs }) => (isPending && afterMs !== undefined ? [afterMs] : []));
  return {
    pending: hooks.filter((_, index) => isHeldUp(settled[index])).map(({ name }) => name),
    afterMs: waits.length === 0 ? undefined : Math.min(...waits),
    labels: Object.assign({}, ...answers.map(({ labels }) => labels ?? {})),
    error: errors.length > 1 ? new AggregateError(errors, errors.map(({ message }) => message).join("; ")) : errors[0],
  };
}

function isHeldUp(answer: PromiseSettledResult<HookAnswer> | undefined): boolean {
  return answer?.status === "rejected" || answer?.value.isPending === true;
}

function failure(hook: RegistrationHook | undefined, cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Error(`registration hook ${hook?.name ?? ""}: ${why}`, { cause });
}
