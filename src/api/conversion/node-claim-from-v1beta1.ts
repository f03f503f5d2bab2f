import { annotations, labels } from "../labels.ts";
import { type ConversionDraft, fieldPath, valueAt, valueText } from "./conversion-draft.ts";
import { convertClassRef } from "./node-class-ref.ts";
import { v1beta1ExpireAfter } from "./node-pool-from-v1beta1.ts";
import { convertRequirements } from "./requirements.ts";

const paths = {
  expiry: fieldPath("spec.expireAfter"),
  requirements: fieldPath("spec.requirements"),
  poolLabel: ["metadata", "labels", labels.nodePool],
  oldDeadline: ["metadata", "annotations", "karpenter.sh/node-termination-timestamp"],
  deadline: ["metadata", "annotations", annotations.terminationTimestamp],
} as const;

/** v1beta1 NodeClaim to v1. `pools` are the v1 pools it may have come from. (01 §7.4) */
export function nodeClaimFromV1beta1(draft: ConversionDraft, pools: readonly unknown[]): void {
  if (!draft.checkIsObject(["spec"])) return;
  convertClassRef(draft, fieldPath("spec.nodeClassRef"));
  if (draft.sourceValue(paths.requirements) !== undefined) {
    convertRequirements(draft, { from: paths.requirements, to: paths.requirements });
  }
  if (draft.sourceValue(paths.deadline) === undefined) draft.moveField(paths.oldDeadline, paths.deadline);
  if (draft.sourceValue(paths.expiry) === undefined) draft.setField(paths.expiry, expiryOf(draft, pools));
}

/** v1beta1 claims have no expireAfter: the pool's applies, else the default. */
function expiryOf(draft: ConversionDraft, pools: readonly unknown[]): unknown {
  const name = draft.sourceValue(paths.poolLabel);
  const pool = pools.find((one) => name !== undefined && valueAt(one, fieldPath("metadata.name")) === name);
  const expiry = valueAt(pool, fieldPath("spec.template.spec.expireAfter"));
  if (expiry !== undefined) return expiry;
  const because =
    name === undefined ? `it has no label ${labels.nodePool}` : `NodePool ${valueText(name)} is not in the input`;
  draft.warn({
    code: "expire-after-assumed",
    path: paths.expiry,
    message: `v1beta1 took a claim's expiry from its pool; assumed ${v1beta1ExpireAfter}, because ${because}`,
    advice: "convert the claim together with its NodePool",
  });
  return v1beta1ExpireAfter;
}
