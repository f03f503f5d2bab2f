import type { KubeObject } from "../../../api/object.ts";
import type { ResourceType } from "../../../kube/client.ts";
import { isKubeError } from "../../../kube/error.ts";
import type { LoopWorld } from "../../../kube/loop.ts";
import { builtIn } from "../../../kube/resources.ts";
import { canonical, templateHash } from "./hash.ts";
import { workloadLabels } from "./names.ts";
import { controlledBy, isControlledBy, keyOf, orGone } from "./ownership.ts";
import type { ControllerRevision, Template } from "./types.ts";

type Owner = KubeObject & { readonly spec: { readonly template: Template } };

/** The templates an owner has had, oldest first. */
export function revisionsOf(world: LoopWorld, { metadata }: KubeObject): readonly ControllerRevision[] {
  const all = world.view<ControllerRevision>(builtIn.ControllerRevision).controlledBy(metadata.uid);
  return [...all].sort((a, b) => a.revision - b.revision);
}

/** The revision of the owner's template of today: made if it is new, moved to the front if it was there before. */
export async function latestRevision(
  world: LoopWorld,
  { owner, ownerType }: { readonly owner: Owner; readonly ownerType: ResourceType },
): Promise<ControllerRevision> {
  const known = revisionsOf(world, owner);
  const wanted = dataOf(owner.spec.template);
  const identity = canonical(wanted);
  const highest = known.at(-1)?.revision ?? 0;
  const same = known.findLast(({ data }) => canonical(data) === identity);
  if (same === undefined) return create(world, { owner, ownerType, revision: highest + 1 });
  if (same.revision === highest) return same;
  const body = { revision: highest + 1 };
  return world.client.patch<ControllerRevision>(builtIn.ControllerRevision, keyOf(same), { kind: "merge", body });
}

/** DaemonSets mark revisions as they mark pods; StatefulSets do not. */
function hashLabelOf({ kind }: ResourceType): string {
  return kind === "DaemonSet" ? workloadLabels.revisionHash : workloadLabels.hash;
}

/** The template a revision holds. */
export function templateOf({ data }: ControllerRevision): Template {
  const { $patch: _, ...template } = (data as RevisionData).spec.template;
  return template;
}

/** Drops the oldest revisions nobody uses, beyond the history that is kept. */
export async function truncate(
  world: LoopWorld,
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
  const unused = revisionsOf(world, owner).filter((revision) => !isUsed(revision));
  for (const revision of unused.slice(0, Math.max(0, unused.length - limit))) {
    await orGone(world.client.delete(builtIn.ControllerRevision, keyOf(revision)));
  }
}

interface RevisionData {
  readonly spec: { readonly template: Template & { readonly $patch: "replace" } };
}

/** As kubectl reads it for `rollout undo`: a patch of the owner. */
function dataOf(template: Template): RevisionData {
  return { spec: { template: { ...template, $patch: "replace" } } };
}

interface NewRevision {
  readonly owner: Owner;
  readonly ownerType: ResourceType;
  readonly revision: number;
}

async function create(world: LoopWorld, { owner, ownerType, revision }: NewRevision): Promise<ControllerRevision> {
  const data = dataOf(owner.spec.template);
  for (let collisions = 0; ; collisions++) {
    const hash = templateHash(data, collisions);
    const wanted = {
      apiVersion: "apps/v1",
      kind: "ControllerRevision",
      metadata: {
        name: `${owner.metadata.name}-${hash}`,
        namespace: owner.metadata.namespace,
        labels: { ...owner.spec.template.metadata?.labels, [hashLabelOf(ownerType)]: hash },
        ownerReferences: [controlledBy(ownerType, owner)],
      },
      data,
      revision,
    };
    try {
      return await world.client.create<ControllerRevision>(builtIn.ControllerRevision, wanted);
    } catch (error) {
      if (!isKubeError(error, "already-exists")) throw error;
    }
    // Ours, and a watch has yet to tell of it; or another's, and the next name is tried.
    const other = await world.client.get<ControllerRevision>(builtIn.ControllerRevision, keyOf(wanted));
    if (isControlledBy(other, owner) && canonical(other.data) === canonical(data)) return other;
  }
}
