import type { ControllerContext } from "../../kube/controller.ts";
import { Reconciler, type ReconcilerOptions } from "../../kube/reconciler.ts";

type OwnOptions = Pick<ReconcilerOptions<string, unknown>, "name" | "reconcile" | "concurrency">;

/** A reconciler for a controller that enqueues its keys itself. */
export function newReconciler(
  { clock, random, reportFailure }: ControllerContext,
  { forkName = "back-off", ...options }: OwnOptions & { readonly forkName?: string },
): Reconciler<string> {
  return new Reconciler<string>({
    ...options,
    context: undefined,
    clock,
    random: random.fork(forkName),
    onError: ({ key, error }) => reportFailure({ kind: "reconcile-failed", controller: options.name, key, error }),
  });
}
