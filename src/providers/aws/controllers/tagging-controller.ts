import type { NodeClaim } from "../../../api/kinds/node-claim.ts";
import { annotations, awsTags } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import { isCloudError } from "../../../cloud/cloud-error.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../../kube/controller.ts";
import { ignoreKubeErrors } from "../../../kube/kube-error.ts";
import { karpenterTypes } from "../../../kube/resources.ts";
import { awsErrorAdvice } from "../api/aws-error-advice.ts";
import type { Ec2Instances } from "../instances/ec2-instances.ts";
import { ec2Tag } from "../instances/instance-details.ts";
import { instanceIdOfProviderId } from "../interruption/instance-id.ts";

type NodeClaimObject = KubeObject & NodeClaim;

/** EC2 allows few CreateTags calls. (04 §3.8) */
const pauseAfterCallMs = 1_000;

export interface TaggingOptions {
  readonly instances: Pick<Ec2Instances, "get" | "tag">;
  readonly clusterName: string;
}

/** Tags an instance with the name of its node and claim, once both are known. (04 §3.8) */
export function taggingController(options: TaggingOptions): Controller {
  return reconcileController({
    name: "nodeclaim.tagging",
    triggers: [
      triggerOn<NodeClaimObject>(karpenterTypes.NodeClaim, ({ object }) =>
        object !== undefined && isTaggable(object) ? [object.metadata.name ?? ""] : [],
      ),
    ],
    reads: [{ of: "cloud", because: "a claim is tagged once" }],
    reconcile: (name, context) => tagInstance(name, context, options),
  });
}

/** A claim whose node is known, that is not being deleted and not done yet. */
function isTaggable({ metadata, status }: NodeClaim): boolean {
  const isDone =
    metadata.annotations?.[annotations.awsTagged] === "true" &&
    metadata.annotations[annotations.awsClusterNameTagged] === "true";
  return (
    Boolean(status?.nodeName) && Boolean(status?.providerID) && metadata.deletionTimestamp === undefined && !isDone
  );
}

async function tagInstance(name: string, context: ControllerContext, options: TaggingOptions): Promise<undefined> {
  const claim = context.view<NodeClaimObject>(karpenterTypes.NodeClaim).get(name);
  if (claim === undefined || !isTaggable(claim)) return undefined;
  const id = instanceIdOfProviderId(claim.status?.providerID);
  if (id === undefined) return undefined; // another provider's
  try {
    const isCalled = await addMissingTags(id, claim, options);
    await markTagged(name, context);
    if (isCalled) await context.clock.sleep(pauseAfterCallMs);
  } catch (error) {
    if (isCloudError(error, "not-found")) return undefined;
    context.recordEvent(claim, {
      type: "Warning",
      reason: "InstanceTaggingFailed",
      message: `its instance cannot be tagged: ${awsErrorAdvice(error)}`,
      dedupe: { values: [claim.metadata.uid ?? ""] },
    });
    throw error;
  }
  return undefined;
}

/** Tags that are there already win, such as a Name of the user's. */
async function addMissingTags(
  id: string,
  claim: NodeClaim,
  { instances, clusterName }: TaggingOptions,
): Promise<boolean> {
  const wanted: Readonly<Record<string, string>> = {
    Name: claim.status?.nodeName ?? "",
    [awsTags.nodeClaim]: claim.metadata.name ?? "",
    [awsTags.clusterName]: clusterName,
  };
  const instance = await instances.get(id);
  const missing = Object.fromEntries(Object.entries(wanted).filter(([key]) => ec2Tag(instance, key) === undefined));
  if (Object.keys(missing).length === 0) return false;
  await instances.tag(id, missing);
  return true;
}

async function markTagged(name: string, { client }: ControllerContext): Promise<void> {
  const done = { [annotations.awsTagged]: "true", [annotations.awsClusterNameTagged]: "true" };
  const patch = { kind: "merge", body: { metadata: { annotations: done } } } as const;
  await ignoreKubeErrors(client.patch(karpenterTypes.NodeClaim, { name }, patch), "not-found");
}
