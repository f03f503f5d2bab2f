import { isDeepStrictEqual } from "node:util";
import { getCondition } from "../../../api/conditions/set-condition.ts";
import { ec2NodeClassHash } from "../../../api/hash/ec2-node-class-hash.ts";
import { ec2NodeClassHashVersion, hashAnnotationKeys, hashUpdatesFor } from "../../../api/hash/hash-drift.ts";
import type { NodeClaim } from "../../../api/kinds/node-claim.ts";
import { finalizers, groups } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { ResourceType } from "../../../kube/client.ts";
import {
  type Controller,
  type ControllerContext,
  reconcileController,
  triggerOn,
  type UnwatchedRead,
} from "../../../kube/controller.ts";
import type { ReconcileResult } from "../../../kube/reconciler.ts";
import { karpenterTypes } from "../../../kube/resources.ts";
import { throwIfAny } from "../../../util/concurrent.ts";
import { awsErrorAdvice } from "../api/aws-error-advice.ts";
import type { Ec2NodeClassObject, Ec2NodeClassStatus } from "./node-class-object.ts";

/** What the account has for a class. */
export interface NodeClassResolution {
  readonly status: Ec2NodeClassStatus;
  /** When to look again. */
  readonly afterMs?: number | undefined;
  /** What could not be found out. The rest of the status is written, and the class is tried again. */
  readonly errors?: readonly unknown[] | undefined;
}

export interface NodeClassControllerOptions {
  resolve(nodeClass: Ec2NodeClassObject, context: ControllerContext): Promise<NodeClassResolution>;
  /** Deletes what was made for a class that no claim uses any more. (04 §1.14) */
  release?(nodeClass: Ec2NodeClassObject): Promise<void>;
  /** Part of the hash: every instance boots with it. */
  readonly caBundle?: (() => string | undefined) | undefined;
  readonly kinds?: readonly ResourceType[] | undefined;
  readonly reads?: readonly UnwatchedRead[] | undefined;
}

const claimRecheckMs = 10 * 60_000;
const maxNamesInMessage = 5;

type NodeClaimObject = KubeObject & NodeClaim;

/** Keeps status, hash and finalizer of EC2NodeClasses. (04 §1.4, §1.13, §1.14) */
export function nodeClassController(options: NodeClassControllerOptions): Controller {
  return reconcileController({
    name: "nodeclass",
    triggers: [
      triggerOn(karpenterTypes.EC2NodeClass, ({ object }) =>
        object === undefined ? [] : [object.metadata.name ?? ""],
      ),
      // The last NodeClaim of a class being deleted releases it.
      triggerOn<NodeClaimObject>(karpenterTypes.NodeClaim, ({ object, old }) =>
        object === undefined && old && usesEc2NodeClass(old) ? [old.spec.nodeClassRef.name] : [],
      ),
    ],
    kinds: options.kinds,
    reads: options.reads,
    concurrency: 10,
    reconcile: (name, context) => reconcile(name, context, options),
  });
}

async function reconcile(
  name: string,
  context: ControllerContext,
  options: NodeClassControllerOptions,
): Promise<ReconcileResult> {
  const nodeClass = context.view<Ec2NodeClassObject>(karpenterTypes.EC2NodeClass).get(name);
  if (nodeClass === undefined) return undefined;
  if (nodeClass.metadata.deletionTimestamp !== undefined) return finalize(nodeClass, context, options);
  const stamped = await stampHash(nodeClass, context, options.caBundle?.());
  const { status, afterMs, errors = [] } = await options.resolve(stamped, context);
  if (!isDeepStrictEqual(status, stamped.status)) {
    const metadata = { resourceVersion: stamped.metadata.resourceVersion };
    const body = { metadata, status: { ...clearedFields(stamped.status, status), ...status } };
    const patch = { kind: "merge", body } as const;
    await context.client.patch(karpenterTypes.EC2NodeClass, { name }, patch, { subresource: "status" });
  }
  throwIfAny(errors, `resolving EC2NodeClass ${name}`);
  return afterMs === undefined ? undefined : { afterMs };
}

/** A merge patch keeps what it does not name. */
function clearedFields(before: Ec2NodeClassStatus = {}, after: Ec2NodeClassStatus): Readonly<Record<string, null>> {
  const gone = Object.keys(before).filter((field) => !Object.hasOwn(after, field));
  return Object.fromEntries(gone.map((field) => [field, null]));
}

/** Adds finalizer and hash; after a change of the hash version, the claims' hashes are updated first. (01 §6.3) */
async function stampHash(
  nodeClass: Ec2NodeClassObject,
  context: ControllerContext,
  caBundle: string | undefined,
): Promise<Ec2NodeClassObject> {
  const { name = "", annotations, finalizers: held = [], resourceVersion } = nodeClass.metadata;
  const { claims, owner } = hashUpdatesFor(hashAnnotationKeys.ec2NodeClass, {
    hash: ec2NodeClassHash(nodeClass.spec ?? {}, { caBundle }),
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

/** The finalizer stays while NodeClaims use the class, and until what was made for it is deleted. (04 §1.14) */
async function finalize(
  nodeClass: Ec2NodeClassObject,
  context: ControllerContext,
  options: NodeClassControllerOptions,
): Promise<ReconcileResult> {
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
  await release(nodeClass, context, options);
  const metadata = { resourceVersion, finalizers: held.filter((one) => one !== finalizers.ec2NodeClass) };
  await context.client.patch(karpenterTypes.EC2NodeClass, { name }, { kind: "merge", body: { metadata } });
  return undefined;
}

async function release(
  nodeClass: Ec2NodeClassObject,
  context: ControllerContext,
  options: NodeClassControllerOptions,
): Promise<void> {
  try {
    await options.release?.(nodeClass);
  } catch (error) {
    context.recordEvent(nodeClass, {
      type: "Warning",
      reason: "NodeClassTerminationFailed",
      message: `resources created for this class cannot be deleted: ${awsErrorAdvice(error)}`,
      dedupe: { values: [nodeClass.metadata.uid ?? ""] },
    });
    throw error;
  }
}

function nodeClaimsOf(name: string, { view }: ControllerContext): readonly NodeClaimObject[] {
  return view<NodeClaimObject>(karpenterTypes.NodeClaim)
    .all()
    .filter((claim) => usesEc2NodeClass(claim) && claim.spec.nodeClassRef.name === name);
}

function usesEc2NodeClass({ spec }: NodeClaimObject): boolean {
  return spec.nodeClassRef.group === groups.aws && spec.nodeClassRef.kind === karpenterTypes.EC2NodeClass.kind;
}
