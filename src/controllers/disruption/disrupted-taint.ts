import { isSameTaint, taints } from "../../api/labels.ts";
import { isKubeError } from "../../kube/kube-error.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { type NodeKubeObject, nodeView } from "../node-claim/claim-lookups.ts";
import { mergePatchObject } from "../writes.ts";
import { retryOnConflict } from "./retry-on-conflict.ts";

const { key, effect } = taints.disrupted;

export function hasDisruptedTaint({ spec }: Pick<NodeKubeObject, "spec">): boolean {
  return spec?.taints?.some((one) => isSameTaint(one, taints.disrupted)) ?? false;
}

/** Keeps new pods off the node. A node that is gone needs no taint. (03:D-71) */
export function addDisruptedTaint(name: string, context: KarpenterContext): Promise<void> {
  return updateTaints(name, context, (node) =>
    hasDisruptedTaint(node)
      ? undefined
      : [...(node.spec?.taints ?? []).filter((one) => one.key !== key), { key, effect }],
  );
}

export function removeDisruptedTaint(name: string, context: KarpenterContext): Promise<void> {
  return updateTaints(name, context, ({ spec }) =>
    spec?.taints?.some((one) => one.key === key) ? spec.taints.filter((one) => one.key !== key) : undefined,
  );
}

type NodeTaints = NonNullable<NonNullable<NodeKubeObject["spec"]>["taints"]>;

/** The list is replaced whole, so nobody may have written in between. Undefined: nothing is to be changed. */
async function updateTaints(
  name: string,
  context: KarpenterContext,
  change: (node: NodeKubeObject) => NodeTaints | undefined,
): Promise<void> {
  await retryOnConflict(context, async (isFirst) => {
    const node = isFirst ? nodeView(context).get(name) : await readNode(name, context);
    const after = node && change(node);
    if (node === undefined || after === undefined) return;
    const body = { spec: { taints: after } };
    await mergePatchObject<NodeKubeObject>(context.client, builtInTypes.Node, node, { body, hasOptimisticLock: true });
  });
}

async function readNode(name: string, { client }: KarpenterContext): Promise<NodeKubeObject | undefined> {
  try {
    return await client.get<NodeKubeObject>(builtInTypes.Node, { name });
  } catch (error) {
    if (isKubeError(error, "not-found")) return undefined;
    throw error;
  }
}
