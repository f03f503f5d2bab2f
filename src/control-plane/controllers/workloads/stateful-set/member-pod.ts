import type { PodTemplateSpec } from "../../../../api/kubernetes/cluster-objects.ts";
import type { KubeObject, OwnerReference } from "../../../../api/object.ts";
import type { ControllerContext } from "../../../../kube/controller.ts";
import { ignoreKubeErrors } from "../../../../kube/kube-error.ts";
import { builtInTypes } from "../../../../kube/resources.ts";
import type { ApiPod } from "../../api-pod-and-node.ts";
import { newControllerReference } from "../ownership.ts";
import { podFromTemplate } from "../pods.ts";
import type { StatefulSet } from "../types.ts";
import { workloadLabels } from "../workload-labels.ts";

/** The ordinal in the name of a pod of the set. */
export function ordinalOf(set: StatefulSet, pod: ApiPod): number | undefined {
  const name = pod.metadata.name ?? "";
  const prefix = `${set.metadata.name}-`;
  const digits = name.startsWith(prefix) ? name.slice(prefix.length) : "";
  return /^(0|[1-9]\d{0,9})$/.test(digits) ? Number(digits) : undefined;
}

export interface MemberIdentity {
  readonly ordinal: number;
  readonly template: PodTemplateSpec;
  readonly revision: string;
}

/** The pod of an ordinal; its name, hostname and volume claims are stable. */
export function memberPod(set: StatefulSet, { ordinal, template, revision }: MemberIdentity): ApiPod {
  const name = `${set.metadata.name}-${ordinal}`;
  const claims = (set.spec.volumeClaimTemplates ?? []).map((claim) => ({
    name: claim.metadata.name ?? "",
    persistentVolumeClaim: { claimName: claimName(claim, name) },
  }));
  const others = (template.spec.volumes ?? []).filter((volume) => !claims.some((claim) => claim.name === volume.name));
  const { serviceName = "" } = set.spec;
  return podFromTemplate({
    template,
    owner: newControllerReference(builtInTypes.StatefulSet, set),
    namespace: set.metadata.namespace,
    naming: { name },
    labels: {
      [workloadLabels.podName]: name,
      [workloadLabels.podIndex]: String(ordinal),
      [workloadLabels.revisionHash]: revision,
    },
    spec: {
      hostname: name,
      ...(serviceName !== "" && { subdomain: serviceName }),
      ...(claims.length + others.length > 0 && { volumes: [...others, ...claims] }),
    },
  });
}

function claimName(claim: KubeObject, podName: string): string {
  return `${claim.metadata.name}-${podName}`;
}

/** Creates the pod's volume claims unless they exist: claims outlive pods. */
export async function ensureClaims(context: ControllerContext, set: StatefulSet, pod: ApiPod): Promise<void> {
  const { namespace, name = "" } = pod.metadata;
  for (const template of set.spec.volumeClaimTemplates ?? []) {
    const wanted = claimName(template, name);
    const found = context.view(builtInTypes.PersistentVolumeClaim).get(`${namespace}/${wanted}`);
    if (found?.metadata.deletionTimestamp !== undefined) throw new Error(`claim ${wanted} is still being deleted`);
    if (found === undefined) await createClaim(context, set, { template, name: wanted });
  }
}

async function createClaim(
  context: ControllerContext,
  set: StatefulSet,
  { template, name }: { readonly template: KubeObject; readonly name: string },
): Promise<void> {
  const { labels, annotations } = template.metadata;
  const isOwned = set.spec.persistentVolumeClaimRetentionPolicy?.whenDeleted === "Delete";
  const claim: KubeObject = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {
      name,
      namespace: set.metadata.namespace,
      labels: { ...labels, ...set.spec.selector?.matchLabels },
      ...(annotations !== undefined && { annotations }),
      ...(isOwned && { ownerReferences: [newOwnerReference(builtInTypes.StatefulSet, set)] }),
    },
    spec: template.spec,
  };
  await ignoreKubeErrors(context.client.create(builtInTypes.PersistentVolumeClaim, claim), "already-exists");
}

/** Before scaling down with whenScaled: Delete, makes the pod own its claims so that they are deleted with it. */
export async function deleteClaimsWithPod(context: ControllerContext, set: StatefulSet, pod: ApiPod): Promise<void> {
  if (set.spec.persistentVolumeClaimRetentionPolicy?.whenScaled !== "Delete") return;
  const { namespace, name = "" } = pod.metadata;
  for (const template of set.spec.volumeClaimTemplates ?? []) {
    const claim = context
      .view<KubeObject>(builtInTypes.PersistentVolumeClaim)
      .get(`${namespace}/${claimName(template, name)}`);
    const isOwned = claim?.metadata.ownerReferences?.some(({ uid }) => uid === pod.metadata.uid) ?? true;
    if (claim === undefined || isOwned) continue;
    // Remove the set's owner reference, or it would keep the claim alive.
    const others = (claim.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== set.metadata.uid);
    const ownerReferences = [...others, newOwnerReference(builtInTypes.Pod, pod)];
    await context.client.update(builtInTypes.PersistentVolumeClaim, {
      ...claim,
      metadata: { ...claim.metadata, ownerReferences },
    });
  }
}

/** An owner reference that neither controls nor blocks. */
function newOwnerReference(type: Parameters<typeof newControllerReference>[0], owner: KubeObject): OwnerReference {
  const { apiVersion, kind, name, uid } = newControllerReference(type, owner);
  return { apiVersion, kind, name, uid };
}
