import type { PodTemplateSpec } from "../../../api/kubernetes/cluster-objects.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { ResourceType } from "../../../kube/client.ts";
import type { ControllerContext } from "../../../kube/controller.ts";
import { isKubeError } from "../../../kube/kube-error.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import { deleteIfExists, isControlledBy, namespacedNameOf, newControllerReference } from "./ownership.ts";
import { templateHash } from "./template-hash.ts";
import type { ControllerRevision, RevisionData } from "./types.ts";
import { workloadLabels } from "./workload-labels.ts";

type Owner = KubeObject & { readonly spec: { readonly template: PodTemplateSpec } };

/** The stored pod templates of an owner, oldest first. */
export function revisionsOf(context: ControllerContext, { metadata }: KubeObject): readonly ControllerRevision[] {
  const all = context.view<ControllerRevision>(builtInTypes.ControllerRevision).controlledBy(metadata.uid);
  return [...all].sort((a, b) => a.revision - b.revision);
}

/** The revision of the owner's current template: created if new, renumbered as the latest if it existed before. */
export async function latestRevision(
  context: ControllerContext,
  { owner, ownerType }: { readonly owner: Owner; readonly ownerType: ResourceType },
): Promise<ControllerRevision> {
  const known = revisionsOf(context, owner);
  const wanted = revisionData(owner.spec.template);
  const identity = canonicalJson(wanted);
  const highest = known.at(-1)?.revision ?? 0;
  const same = known.findLast(({ data }) => canonicalJson(data) === identity);
  if (same === undefined) return createRevision(context, { owner, ownerType, revision: highest + 1 });
  if (same.revision === highest) return same;
  const body = { revision: highest + 1 };
  return context.client.patch<ControllerRevision>(builtInTypes.ControllerRevision, namespacedNameOf(same), {
    kind: "merge",
    body,
  });
}

/** DaemonSets label revisions with the same key as pods; StatefulSets use another. */
function hashLabelOf({ kind }: ResourceType): string {
  return kind === "DaemonSet" ? workloadLabels.revisionHash : workloadLabels.hash;
}

export function templateOfRevision({ data }: ControllerRevision): PodTemplateSpec {
  const { $patch: _, ...template } = data.spec.template;
  return template;
}

/** Deletes the oldest unused revisions beyond the history limit. */
export async function truncateHistory(
  context: ControllerContext,
  {
    owner,
    limit,
    isUsed,
  }: {
    readonly owner: KubeObject;
    readonly limit: number;
    readonly isUsed: (revision: ControllerRevision) => boolean;
  },
): Promise<void> {
  const unused = revisionsOf(context, owner).filter((revision) => !isUsed(revision));
  for (const revision of unused.slice(0, Math.max(0, unused.length - limit))) {
    await deleteIfExists(context, builtInTypes.ControllerRevision, revision);
  }
}

/** A patch of the owner, as `kubectl rollout undo` expects it. */
function revisionData(template: PodTemplateSpec): RevisionData {
  return { spec: { template: { ...template, $patch: "replace" } } };
}

interface NewRevision {
  readonly owner: Owner;
  readonly ownerType: ResourceType;
  readonly revision: number;
}

async function createRevision(
  context: ControllerContext,
  { owner, ownerType, revision }: NewRevision,
): Promise<ControllerRevision> {
  const data = revisionData(owner.spec.template);
  for (let collisions = 0; ; collisions++) {
    const hash = templateHash(data, collisions);
    const wanted = {
      apiVersion: "apps/v1",
      kind: "ControllerRevision",
      metadata: {
        name: `${owner.metadata.name}-${hash}`,
        namespace: owner.metadata.namespace,
        labels: { ...owner.spec.template.metadata?.labels, [hashLabelOf(ownerType)]: hash },
        ownerReferences: [newControllerReference(ownerType, owner)],
      },
      data,
      revision,
    };
    try {
      return await context.client.create<ControllerRevision>(builtInTypes.ControllerRevision, wanted);
    } catch (error) {
      if (!isKubeError(error, "already-exists")) throw error;
    }
    // Either ours and not yet in the view, or another object's: then the next name is tried.
    const other = await context.client.get<ControllerRevision>(
      builtInTypes.ControllerRevision,
      namespacedNameOf(wanted),
    );
    if (isControlledBy(other, owner) && canonicalJson(other.data) === canonicalJson(data)) return other;
  }
}
