import { fitOnClaim, type Seeker } from "./claims.ts";
import { newProspect } from "./commit.ts";
import type { Entry, Pass } from "./pass-state.ts";
import { verdictOf } from "./pool-verdict.ts";
import type { Cause, PoolVerdict, Refusal } from "./refusal.ts";
import { variantAt } from "./variants.ts";

/** A refusal without the pod it is of. */
export type Reason = Omit<Refusal, "pod">;

export function refusalOf(pass: Pass, entry: Entry): Refusal {
  return { pod: entry.pod, ...reasonFor(pass, entry) };
}

/** Why a pod, and every other of its class, was left over: worked out once the pass has ended. (02 §10.3-11) */
export function reasonFor(pass: Pass, entry: Entry): Reason {
  const { podClass } = entry;
  if (podClass.usesDra && pass.problem.policy.ignoreDra) {
    const message = "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter";
    return { code: "dynamic-resources", message, pools: [] };
  }
  if (podClass.volumeProblem !== undefined) {
    return {
      code: "volume-requirements",
      message: podClass.volumeProblem,
      pools: [],
    };
  }
  if (pass.shops.length === 0) {
    return {
      code: "no-templates",
      message: "nodepool requirements filtered out all available instance types",
      pools: [],
    };
  }
  const variant = lastVariant(pass, entry);
  const verdicts: (PoolVerdict & { readonly text: string })[] = [];
  for (const shop of pass.shops) {
    const verdict = verdictOf(pass, { entry, variant }, shop);
    verdicts.push({ pool: shop.template.pool, ...verdict });
    if (verdict.cause.code === "reserved-capacity") break;
  }
  const reserved = verdicts.find(({ cause }) => cause.code === "reserved-capacity");
  const message = reserved?.text ?? verdicts.map(({ text }) => text).join("; ");
  const nearest = verdicts.reduce(
    (best, one) => (nearness(one.cause) > nearness(best.cause) ? one : best),
    verdicts[0] as PoolVerdict,
  );
  return { code: nearest.cause.code, message, pools: verdicts.map(({ pool, cause }) => ({ pool, cause })) };
}

/** How far a pod came at a pool: later checks are nearer misses. */
function nearness({ code }: Cause): number {
  const order: readonly Cause["code"][] = [
    "node-limit",
    "limits",
    "taint",
    "requirements",
    "host-port",
    "volume-limit",
    "volume-requirements",
    "topology",
    "instance-types",
    "resources",
    "min-values",
    "reserved-capacity",
  ];
  return order.indexOf(code);
}

/** The text a pod ends with is that of its last attempt: everything dropped that can be, or held up by reservations. */
export function lastVariant(pass: Pass, entry: Entry): Seeker["variant"] {
  for (let level = 0; ; level++) {
    const variant = variantAt(entry.podClass, level, pass.tools);
    if (variant === undefined) throw new Error("a class has at least one variant");
    const isLast = variantAt(entry.podClass, level + 1, pass.tools) === undefined;
    if (isLast || awaitsReservation(pass, { entry, variant })) return variant;
  }
}

function awaitsReservation(pass: Pass, seeker: Seeker): boolean {
  if (pass.reservations.isEmpty) return false;
  for (const shop of pass.shops) {
    const prospect = newProspect(pass, shop);
    if (typeof prospect === "string") continue;
    if (fitOnClaim(pass, seeker, prospect) !== undefined) return false;
    if (pass.refusedByReservation) return true;
  }
  return false;
}
