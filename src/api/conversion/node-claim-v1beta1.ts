import { annotations, labels } from "../labels.ts";
import { at, type Draft, shown, valueAt } from "./draft.ts";
import { classRef } from "./node-class-ref.ts";
import { betaExpireAfter } from "./node-pool-v1beta1.ts";
import { requirements } from "./requirements.ts";

const paths = {
  expiry: at("spec.expireAfter"),
  requirements: at("spec.requirements"),
  poolLabel: ["metadata", "labels", labels.nodePool],
  oldDeadline: ["metadata", "annotations", "karpenter.sh/node-termination-timestamp"],
  deadline: ["metadata", "annotations", annotations.terminationTimestamp],
} as const;

/** v1beta1 NodeClaim to v1. `pools` are the v1 pools it may have come from. (01 §7.4) */
export function nodeClaimFromBeta(draft: Draft, pools: readonly unknown[]): void {
  if (!draft.isObject(["spec"])) return;
  classRef(draft, at("spec.nodeClassRef"));
  if (draft.said(paths.requirements) !== undefined) {
    requirements(draft, { from: paths.requirements, to: paths.requirements });
  }
  if (draft.said(paths.deadline) === undefined) draft.move(paths.oldDeadline, paths.deadline);
  if (draft.said(paths.expiry) === undefined) draft.put(paths.expiry, expiryOf(draft, pools));
}

/** Beta claims had no expiry of their own: the pool's applies, else the default. */
function expiryOf(draft: Draft, pools: readonly unknown[]): unknown {
  const name = draft.said(paths.poolLabel);
  const pool = pools.find((one) => name !== undefined && valueAt(one, at("metadata.name")) === name);
  const expiry = valueAt(pool, at("spec.template.spec.expireAfter"));
  if (expiry !== undefined) return expiry;
  const because =
    name === undefined ? `it has no label ${labels.nodePool}` : `NodePool ${shown(name)} is not among the input`;
  draft.note({
    code: "expire-after-assumed",
    path: paths.expiry,
    message: `v1beta1 took a claim's expiry from its pool; assumed ${betaExpireAfter}, because ${because}`,
    advice: "convert the claim together with its NodePool",
  });
  return betaExpireAfter;
}
