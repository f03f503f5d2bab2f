import { isDeepStrictEqual } from "node:util";
import { getCondition } from "../../../api/conditions/set-condition.ts";
import { ec2NodeClassHash } from "../../../api/hash/ec2-node-class-hash.ts";
import { ec2NodeClassHashVersion, hashAnnotationKeys, hashUpdatesFor } from "../../../api/hash/hash-drift.ts";
import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import type { NodeClaim } from "../../../api/kinds/node-claim.ts";
import { finalizers, groups } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../../kube/controller.ts";
import type { ReconcileResult } from "../../../kube/reconciler.ts";
import { karpenterTypes } from "../../../kube/resources.ts";
import type { Region } from "../../aws/regions.ts";
import { resolveEc2NodeClassStatus } from "./ec2-node-class-status.ts";

const claimRecheckMs = 10 * 60_000;
const maxNamesInMessage = 5;

/** Resolves EC2NodeClasses in the simulated account, adds their hash, and keeps those in use. (04 §1.4, §1.13, §1.14) */
export function ec2NodeClassController(region: Region): Controller {
  return reconcileController({
    name: "nodeclass",
    triggers: [
      triggerOn(karpenterTypes.EC2NodeClass, ({ object }) =>
        object === undefined ? [] : [object.metadata.name ?? ""],
      ),
      // The last NodeClaim of a class being deleted releases it.
      triggerOn<NodeClaimObject>(karpenterTypes.NodeClaim, ({ object, old }) =>
        object === undefined && old && usesEc2NodeClass(old) ? [nodeClassNameOf(old)] : [],
      ),
    ],
    concurrency: 10,
    reconcile: (name, context) => reconcile(name, context, region),
  });
}

type Ec2NodeClassObject = KubeObject & Ec2NodeClass;
type NodeClaimObject = KubeObject & NodeClaim;

async function reconcile(name: string, context: ControllerContext, region: Region): Promise<ReconcileResult> {
  const nodeClass = context.view<Ec2NodeClassObject>(karpenterTypes.EC2NodeClass).get(name);
  if (nodeClass === undefined) return undefined;
  if (nodeClass.metadata.deletionTimestamp !== undefined) return finalize(nodeClass, context);
  const stamped = await stampHash(nodeClass, context);
  const status = resolveEc2NodeClassStatus(stamped, { region, nowMs: context.clock.now() });
  if (!isDeepStrictEqual(status, stamped.status)) {
    const body = { metadata: { resourceVersion: stamped.metadata.resourceVersion }, status };
    const patch = { kind: "merge", body } as const;
    await context.client.patch(karpenterTypes.EC2NodeClass, { name }, patch, { subresource: "status" });
  }
  return undefined;
}

/** Adds finalizer and hash; after a change of the hash version, the claims' hashes are updated first. (01 §6.3) */
async function stampHash(nodeClass: Ec2NodeClassObject, context: ControllerContext): Promise<Ec2NodeClassObject> {
  const { name = "", annotations, finalizers: held = [], resourceVersion } = nodeClass.metadata;
  const { claims, owner } = hashUpdatesFor(hashAnnotationKeys.ec2NodeClass, {
    hash: ec2NodeClassHash(nodeClass.spec ?? {}, {}),
    version: ec2NodeClassHashVersion,
    owner: annotations,
    claims: nodeClaimsOf(name, context).map((claim) => ({
      name: claim.metadata.name ?? "",
      annotations: claim.metadata.annotations,
      isDrifted: getCondition(claim, "Drifted") !== undefined,
    })),
  });
  for (const claim of claims) {
    const body = { metadata: { annotations: claim.annotations } };
    await context.client.patch(karpenterTypes.NodeClaim, { name: claim.name }, { kind: "merge", body });
  }
  const hasFinalizer = held.includes(finalizers.ec2NodeClass);
  if (hasFinalizer && owner === undefined) return nodeClass;
  const metadata = {
    resourceVersion,
    ...(owner && { annotations: owner }),
    ...(!hasFinalizer && { finalizers: [...held, finalizers.ec2NodeClass] }),
  };
  const patch = { kind: "merge", body: { metadata } } as const;
  return context.client.patch<Ec2NodeClassObject>(karpenterTypes.EC2NodeClass, { name }, patch);
}

/** The finalizer stays while NodeClaims use the class. (04 §1.14) */
async function finalize(nodeClass: Ec2NodeClassObject, context: ControllerContext): Promise<ReconcileResult> {
  const { name = "", uid = "", finalizers: held = [], resourceVersion } = nodeClass.metadata;
  if (!held.includes(finalizers.ec2NodeClass)) return undefined;
  const names = nodeClaimsOf(name, context).map(({ metadata }) => metadata.name ?? "");
  if (names.length > 0) {
    const shown = names.slice(0, maxNamesInMessage).join(", ");
    const more = names.length > maxNamesInMessage ? ` and ${names.length - maxNamesInMessage} more` : "";
    context.recordEvent(nodeClass, {
      type: "Normal",
      reason: "WaitingOnNodeClaimTermination",
      message: `waiting on NodeClaim termination for ${shown}${more}`,
      dedupe: { values: [uid] },
    });
    return { afterMs: claimRecheckMs };
  }
  const metadata = { resourceVersion, finalizers: held.filter((one) => one !== finalizers.ec2NodeClass) };
  await context.client.patch(karpenterTypes.EC2NodeClass, { name }, { kind: "merge", body: { metadata } });
  return undefined;
}

function nodeClaimsOf(name: string, { view }: ControllerContext): readonly NodeClaimObject[] {
  return view<NodeClaimObject>(karpenterTypes.NodeClaim)
    .all()
    .filter((claim) => usesEc2NodeClass(claim) && nodeClassNameOf(claim) === name);
}

function usesEc2NodeClass({ spec }: NodeClaimObject): boolean {
  return spec.nodeClassRef.group === groups.aws && spec.nodeClassRef.kind === karpenterTypes.EC2NodeClass.kind;
}

function nodeClassNameOf({ spec }: NodeClaimObject): string {
  return spec.nodeClassRef.name;
}
