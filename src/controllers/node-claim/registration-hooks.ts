import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { HookResult, RegistrationHook } from "../../cloud/cloud-provider.ts";
import { errorMessage } from "../../util/error-text.ts";

/** The results of all hooks together. */
export interface HookResults {
  /** Names of those that are pending or failed. */
  readonly pending: readonly string[];
  readonly afterMs: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly error: unknown;
}

/** Runs all hooks at once; the node is registered when none is pending, and the pending ones are named. (03:L-12) */
export async function runRegistrationHooks(claim: NodeClaim, hooks: readonly RegistrationHook[]): Promise<HookResults> {
  const settled = await Promise.allSettled(hooks.map(async (hook) => hook.registered(claim)));
  const results = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const errors = settled.flatMap((one, index) =>
    one.status === "rejected" ? [hookError(hooks[index], one.reason)] : [],
  );
  const waits = results.flatMap(({ isPending, afterMs }) => (isPending && afterMs !== undefined ? [afterMs] : []));
  return {
    pending: hooks.filter((_, index) => isBlocking(settled[index])).map(({ name }) => name),
    afterMs: waits.length === 0 ? undefined : Math.min(...waits),
    labels: Object.assign({}, ...results.map(({ labels }) => labels ?? {})),
    error: errors.length > 1 ? new AggregateError(errors, errors.map(({ message }) => message).join("; ")) : errors[0],
  };
}

function isBlocking(result: PromiseSettledResult<HookResult> | undefined): boolean {
  return result?.status === "rejected" || result?.value.isPending === true;
}

function hookError(hook: RegistrationHook | undefined, cause: unknown): Error {
  const why = errorMessage(cause);
  return new Error(`registration hook ${hook?.name ?? ""}: ${why}`, { cause });
}
