import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { KubeObject } from "../../api/object.ts";
import type { OtherPool } from "../../core/explain/changes/other-pool-changes.ts";
import { explainPod } from "../../core/explain/explain-pod.ts";
import type { Explanation } from "../../core/explain/explanation.ts";
import { otherPoolDrafts, unusablePoolFindings } from "../../core/explain/unusable-pools.ts";
import { type NotPendingPod, notPendingPod } from "../../core/explain/why-not-pending.ts";
import { ignoredPodText } from "../../core/pod-validation.ts";
import { podsToPlace } from "../../core/round/round-pods.ts";
import { selectUsablePools } from "../../core/round/usable-pools.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { decidingRound } from "../../state/plan-rounds.ts";
import type { ExplanationReply } from "../explanations.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { podView } from "../node/pods-of-node.ts";
import { roundPodsOf } from "./collect-pods.ts";
import { instanceTypesFor, poolsWithInstanceTypes } from "./pools-with-instance-types.ts";
import { buildRoundProblem } from "./round-problem.ts";
import { settledRounds } from "./settled-rounds.ts";

/** Explanations repeat: they draw no random numbers of the controller. */
const seed = 0;

/** Why a pod is pending or where it would go, in the round that would run now and those that follow from it. */
export async function explainPodNow(
  key: string,
  context: KarpenterContext,
): Promise<ExplanationReply<Explanation | NotPendingPod>> {
  const { cluster, clock } = context;
  if (!cluster.isSynced) return { kind: "not-synced" };
  const pod = podView(context).get(key);
  if (pod === undefined) return { kind: "unknown" };
  const snapshot = cluster.snapshot();
  const roundPods = await roundPodsOf(snapshot, context);
  const pools = await poolsWithInstanceTypes(context);
  const problem = await buildRoundProblem({ pods: podsToPlace(roundPods), pools, snapshot, seed }, context);
  const ignored = roundPods.ignored.map((one) => ({
    pod: one.pod,
    code: "invalid-pod" as const,
    message: ignoredPodText(one.problems),
    pools: [],
  }));
  const isPending = (pod.spec.nodeName ?? "") === "";
  const { unusable } = selectUsablePools(
    context.view<KubeObject & NodePool>(karpenterTypes.NodePool).all(),
    context.cloud.nodeClasses,
  );
  const nodeClasses = nodeClassObjects(context);
  const unusablePools = unusablePoolFindings(unusable, nodeClasses);
  const otherPools = isPending ? await withTypes(otherPoolDrafts(unusable, nodeClasses), context) : [];
  const settled = isPending ? await settledRounds(problem, context) : undefined;
  const explanation = isPending
    ? explainPod((settled && decidingRound(settled, key)?.problem) ?? problem, key, {
        ...{ ignored, unusablePools, otherPools },
        ...(settled && { decision: settled.decision }),
      })
    : undefined;
  return { kind: "explained", explanation: explanation ?? notPendingPod(pod), atMs: clock.now() };
}

function nodeClassObjects({ cloud, view }: KarpenterContext): readonly KubeObject[] {
  return cloud.nodeClasses.flatMap((type) =>
    view<KubeObject>(type)
      .all()
      .map((object) => ({ ...object, kind: type.kind })),
  );
}

async function withTypes(drafts: readonly OtherPool[], context: KarpenterContext): Promise<readonly OtherPool[]> {
  return Promise.all(
    drafts.map(async (draft) => {
      const { nodePool } = draft.pool;
      return { ...draft, pool: { nodePool, instanceTypes: await instanceTypesFor(nodePool, context) } };
    }),
  );
}
