import { resources } from "../../../api/labels.ts";
import { intersects } from "../../compatibility.ts";
import type { InstanceType } from "../../instance-type.ts";
import { staticNodeLimit } from "../../round/static-pools.ts";
import { nodeClaimTemplateOf } from "../../scheduling/node-claim-template.ts";
import type { Pool, SchedulingProblem } from "../../scheduling/problem.ts";
import { addOperation, type PatchOperation, replaceOperation } from "../json-patch.ts";
import { type CandidateChange, changeOf, changeWeights, editedNodePool, poolName } from "./candidate-change.ts";

/** A pool that launches nothing for pods now, and what would have it serve them. */
export type OtherPool =
  /** It has a number of nodes of its own. */
  | { readonly kind: "static"; readonly pool: Pool }
  /** Its node class does not exist; `pool` has another one, which may have been meant. */
  | { readonly kind: "class-missing"; readonly pool: Pool; readonly missing: string; readonly isTypo: boolean };

/** Changes after which such a pool has a node for the pod. */
export function otherPoolChanges(problem: SchedulingProblem, others: readonly OtherPool[]): readonly CandidateChange[] {
  return others.flatMap((one) => (one.kind === "static" ? replicaChanges(problem, one.pool) : [classNameChange(one)]));
}

function classNameChange({ pool, missing, isTypo }: Extract<OtherPool, { kind: "class-missing" }>): CandidateChange {
  const { kind, name } = pool.nodePool.spec.template.spec.nodeClassRef;
  const place = `NodePool ${poolName(pool)}`;
  return changeOf(editedNodePool(pool), {
    text: isTypo
      ? `did you mean ${kind} ${name}? Change spec.template.spec.nodeClassRef.name of ${place} from ${missing}`
      : `use ${kind} ${name} for ${place}: there is no ${missing}`,
    weight: isTypo ? changeWeights.fixTypo : changeWeights.changeValue,
    precedence: isTypo ? "correction" : "ordinary",
    operations: [replaceOperation(["spec", "template", "spec", "nodeClassRef", "name"], name)],
    apply: (problem) => [{ ...problem, pools: [...problem.pools, pool] }],
  });
}

/** One more node of a static pool, which is launched without regard to the pod. */
function replicaChanges(problem: SchedulingProblem, pool: Pool): readonly CandidateChange[] {
  const launches = replicaLaunches(problem, pool);
  if (launches.length === 0) return [];
  const { nodePool } = pool;
  const { replicas = 0 } = nodePool.spec;
  const wanted = replicas + 1;
  const isLimited = wanted > staticNodeLimit(nodePool);
  const operations: readonly PatchOperation[] = [
    replaceOperation(["spec", "replicas"], wanted),
    ...(isLimited ? [addOperation(nodePool, ["spec", "limits", resources.nodes], String(wanted))] : []),
  ];
  const limitText = isLimited ? `, and its limit of nodes to ${wanted}` : "";
  return [
    changeOf(editedNodePool(pool), {
      text: `raise the replicas of the static NodePool ${poolName(pool)} from ${replicas} to ${wanted}${limitText}`,
      weight: changeWeights.addReplica,
      operations,
      apply: (changed) => launches.map((one) => ({ ...changed, pools: [...changed.pools, one] })),
    }),
  ];
}

/** The most launches that are told apart. */
const maxLaunches = 8;

/**
 * The pool as it would be for each of the equally cheap instances that a replica may become: nobody says which, so the
 * pod has to fit on all of them.
 */
export function replicaLaunches(
  { labelPolicy }: SchedulingProblem,
  { nodePool, instanceTypes }: Pool,
): readonly Pool[] {
  const { requirements } = nodeClaimTemplateOf(nodePool, labelPolicy);
  const offers = instanceTypes
    .filter((type) => intersects(requirements, type.requirements))
    .flatMap((type) =>
      type.offerings
        .filter((offering) => offering.available && intersects(requirements, offering.requirements))
        .map((offering): { type: InstanceType; price: number } => ({
          type: { ...type, offerings: [offering] },
          price: offering.price,
        })),
    );
  const lowest = Math.min(...offers.map(({ price }) => price));
  const { replicas: _replicas, limits: _limits, ...spec } = nodePool.spec;
  return offers
    .filter(({ price }) => price === lowest)
    .slice(0, maxLaunches)
    .map(({ type }) => ({ nodePool: { ...nodePool, spec }, instanceTypes: [type] }));
}
