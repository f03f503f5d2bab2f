import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { finalizers, labels, type Taint, taints } from "../../api/labels.ts";
import type { LiveNode } from "./lookups.ts";
import { changed } from "./steps.ts";

/** The Node with everything its claim has to say to it. (03:L-11) */
export function synced(node: LiveNode, claim: NodeClaim): LiveNode {
  const { metadata, spec } = node;
  const { taints: lasting = [], startupTaints = [] } = claim.spec;
  const keepsTaints = metadata.labels?.[labels.doNotSyncTaints] === "true";
  return {
    ...node,
    metadata: {
      ...metadata,
      finalizers: withFinalizer(metadata.finalizers),
      ownerReferences: withOwner(metadata.ownerReferences, claim),
      annotations: { ...metadata.annotations, ...claim.metadata.annotations },
      labels: { ...metadata.labels, ...claim.metadata.labels },
    },
    spec: keepsTaints ? spec : { ...spec, taints: mergedTaints(spec?.taints, [...lasting, ...startupTaints]) },
  };
}

/** Open to pods. (03:L-13) */
export function opened({ metadata, spec, ...node }: LiveNode): LiveNode {
  const left = (spec?.taints ?? []).filter((taint) => !isSameTaint(taint, taints.unregistered));
  return {
    ...node,
    metadata: { ...metadata, labels: { ...metadata.labels, [labels.registered]: "true" } },
    spec: { ...spec, taints: left },
  };
}

/** What a merge patch has to say; undefined where nothing changed. */
export function nodePatch(before: LiveNode, after: LiveNode): object | undefined {
  const { labels: told, annotations, finalizers: held, ownerReferences } = after.metadata;
  const metadata = changed(before.metadata, { labels: told, annotations, finalizers: held, ownerReferences });
  const spec = changed({ taints: before.spec?.taints ?? [] }, { taints: after.spec?.taints ?? [] });
  return metadata === undefined && spec === undefined
    ? undefined
    : { ...(metadata && { metadata }), ...(spec && { spec }) };
}

export function isSameTaint(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect;
}

export function withFinalizer(held: readonly string[] = []): readonly string[] {
  return held.includes(finalizers.termination) ? held : [...held, finalizers.termination];
}

type Owners = LiveNode["metadata"]["ownerReferences"];

function withOwner(owners: Owners = [], { apiVersion, kind, metadata }: NodeClaim): Owners {
  const { name = "", uid = "" } = metadata;
  const isThere = owners.some((one) => one.apiVersion === apiVersion && one.kind === kind && one.uid === uid);
  return isThere ? owners : [...owners, { apiVersion, kind, name, uid, blockOwnerDeletion: true }];
}

/** What the node wears already stays as it is. */
function mergedTaints(worn: readonly Taint[] = [], added: readonly Taint[]): readonly Taint[] {
  const merged = [...worn];
  for (const taint of added) if (!merged.some((one) => isSameTaint(one, taint))) merged.push(taint);
  return merged;
}
