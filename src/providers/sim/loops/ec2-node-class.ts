import { isDeepStrictEqual } from "node:util";
import { get } from "../../../api/conditions/engine.ts";
import { ec2NodeClassHashVersion, hashStamps, restamping } from "../../../api/hash/drift.ts";
import { ec2NodeClassHash, type HashedNodeClass } from "../../../api/hash/ec2-node-class-hash.ts";
import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import type { NodeClaim } from "../../../api/kinds/node-claim.ts";
import { finalizers, groups } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../../kube/loop.ts";
import type { LookAgain } from "../../../kube/reconciler.ts";
import { custom } from "../../../kube/resources.ts";
import type { Region } from "../../aws/regions.ts";
import { resolvedStatus } from "./node-class-status.ts";

const waitMs = 10 * 60_000;
const namesShown = 5;

/** Resolves EC2NodeClasses in the simulated account, stamps their hash, and keeps those in use. (04 §1.4, §1.13, §1.14) */
export function ec2NodeClassLoop(region: Region): Loop {
  return reconcileLoop({
    name: "nodeclass",
    triggers: [
      on<Ec2Class>(custom.EC2NodeClass, ({ object }) => (object === undefined ? [] : [object.metadata.name ?? ""])),
      // The last claim of a class that is going lets it go.
      on<Claim>(custom.NodeClaim, ({ object, old }) =>
        object === undefined && old && usesEc2(old) ? [classOf(old)] : [],
      ),
    ],
    concurrency: 10,
    reconcile: (name, world) => reconcile(name, world, region),
  });
}

type Ec2Class = KubeObject & Ec2NodeClass;
type Claim = KubeObject & NodeClaim;

async function reconcile(name: string, world: LoopWorld, region: Region): Promise<LookAgain | undefined> {
  const nodeClass = world.view<Ec2Class>(custom.EC2NodeClass).get(name);
  if (nodeClass === undefined) return undefined;
  if (nodeClass.metadata.deletionTimestamp !== undefined) return release(nodeClass, world);
  const stamped = await stamp(nodeClass, world);
  const status = resolvedStatus(stamped, { region, nowMs: world.clock.now() });
  if (!isDeepStrictEqual(status, stamped.status)) {
    const body = { metadata: { resourceVersion: stamped.metadata.resourceVersion }, status };
    await world.client.patch(custom.EC2NodeClass, { name }, { kind: "merge", body }, { subresource: "status" });
  }
  return undefined;
}

/** The finalizer and the hash; on a change of version the claims' hashes before it. (01 §6.3) */
async function stamp(nodeClass: Ec2Class, world: LoopWorld): Promise<Ec2Class> {
  const { name = "", annotations, finalizers: held = [], resourceVersion } = nodeClass.metadata;
  const { claims, owner } = restamping(hashStamps.ec2NodeClass, {
    hash: ec2NodeClassHash((nodeClass.spec ?? {}) as HashedNodeClass, {}),
    version: ec2NodeClassHashVersion,
    owner: annotations,
    claims: claimsOf(name, world).map((claim) => ({
      name: claim.metadata.name ?? "",
      annotations: claim.metadata.annotations,
      isDrifted: get(claim, "Drifted") !== undefined,
    })),
  });
  for (const claim of claims) {
    const body = { metadata: { annotations: claim.annotations } };
    await world.client.patch(custom.NodeClaim, { name: claim.name }, { kind: "merge", body });
  }
  const isKept = held.includes(finalizers.ec2NodeClass);
  if (isKept && owner === undefined) return nodeClass;
  const metadata = {
    resourceVersion,
    ...(owner && { annotations: owner }),
    ...(!isKept && { finalizers: [...held, finalizers.ec2NodeClass] }),
  };
  return world.client.patch<Ec2Class>(custom.EC2NodeClass, { name }, { kind: "merge", body: { metadata } });
}

/** A class stays while claims refer to it. (04 §1.14) */
async function release(nodeClass: Ec2Class, world: LoopWorld): Promise<LookAgain | undefined> {
  const { name = "", uid = "", finalizers: held = [], resourceVersion } = nodeClass.metadata;
  if (!held.includes(finalizers.ec2NodeClass)) return undefined;
  const names = claimsOf(name, world).map(({ metadata }) => metadata.name ?? "");
  if (names.length > 0) {
    const shown = names.slice(0, namesShown).join(", ");
    const more = names.length > namesShown ? ` and ${names.length - namesShown} more` : "";
    world.tell(nodeClass, {
      type: "Normal",
      reason: "WaitingOnNodeClaimTermination",
      message: `waiting for NodeClaims to end: ${shown}${more}`,
      dedupe: { values: [uid] },
    });
    return { afterMs: waitMs };
  }
  const metadata = { resourceVersion, finalizers: held.filter((one) => one !== finalizers.ec2NodeClass) };
  await world.client.patch(custom.EC2NodeClass, { name }, { kind: "merge", body: { metadata } });
  return undefined;
}

function claimsOf(name: string, { view }: LoopWorld): readonly Claim[] {
  return view<Claim>(custom.NodeClaim)
    .all()
    .filter((claim) => usesEc2(claim) && classOf(claim) === name);
}

function usesEc2({ spec }: Claim): boolean {
  return spec.nodeClassRef.group === groups.aws && spec.nodeClassRef.kind === custom.EC2NodeClass.kind;
}

function classOf({ spec }: Claim): string {
  return spec.nodeClassRef.name;
}
