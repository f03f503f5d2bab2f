import { type Controller, type ControllerContext, reconcileController } from "../../../kube/controller.ts";
import type { ReconcileResult } from "../../../kube/reconciler.ts";
import { builtInTypes, karpenterTypes } from "../../../kube/resources.ts";
import { errorText } from "../../../util/error-text.ts";
import type { Ec2Api } from "../api/aws-api.ts";
import { isAwsError } from "../api/aws-error.ts";
import { healthQueries, type UnhealthyInstance, unhealthyInstances } from "./instance-health.ts";
import { instanceIdOfProviderId } from "./instance-id.ts";
import {
  type InterruptionOptions,
  indexByProviderId,
  interruptClaim,
  type NodeClaimObject,
} from "./interrupt-claim.ts";

export interface InstanceStatusOptions extends InterruptionOptions {
  readonly ec2: Pick<Ec2Api, "describeInstanceStatus">;
}

const periodMs = 60_000;

/** How many instances are handled at the same time. */
const parallel = 10;

/** `instance id, category` of what is unhealthy and was counted. */
type CountedInstances = { keys: ReadonlySet<string> };

/** Polls the status checks of instances and acts on those that fail; needs no queue. (04 §4.4) */
export function instanceStatusController(options: InstanceStatusOptions): Controller {
  return reconcileController<ControllerContext, CountedInstances>({
    name: "interruption.instancestatus",
    triggers: [],
    kinds: [karpenterTypes.NodeClaim, builtInTypes.Node],
    reads: [
      { of: "cloud", withinMs: periodMs, because: "EC2 does not announce failed status checks" },
      { of: karpenterTypes.NodeClaim, withinMs: periodMs, because: "an unhealthy instance is reported every time" },
      { of: builtInTypes.Node, because: "events are about the Node too" },
    ],
    initialKeys: ["instances"],
    start: (context) => {
      indexByProviderId(context);
      context
        .view<NodeClaimObject>(karpenterTypes.NodeClaim)
        .addIndex("instance-id", ({ status }) => instanceIdOfProviderId(status?.providerID));
      return { keys: new Set() };
    },
    reconcile: (_, context, counted) => checkInstances(context, options, counted),
  });
}

async function checkInstances(
  context: ControllerContext,
  options: InstanceStatusOptions,
  counted: CountedInstances,
): Promise<ReconcileResult> {
  const { ec2 } = options;
  const answers = await Promise.all(
    healthQueries.map((filters) => ec2.describeInstanceStatus({ Filters: [...filters] })),
  ).catch((error: unknown) => {
    if (!isAwsError(error, "UnauthorizedOperation", "AccessDenied", "AccessDeniedException")) throw error;
    const advice = "status checks are not looked at until the restart; allow ec2:DescribeInstanceStatus";
    context.log.error(advice, { error: errorText(error) });
    return undefined;
  });
  if (answers === undefined) return undefined;
  const view = context.view<NodeClaimObject>(karpenterTypes.NodeClaim);
  const isOurs = ({ instanceId }: UnhealthyInstance): boolean => view.byIndex("instance-id", instanceId).length > 0;
  const unhealthy = unhealthyInstances(answers.flat(), context.clock.now()).filter(isOurs);
  countNew(unhealthy, { counted, metrics: options.metrics });
  for (let first = 0; first < unhealthy.length; first += parallel) {
    const instances = unhealthy.slice(first, first + parallel);
    await Promise.all(instances.map((instance) => interruptInstance(instance, context, options)));
  }
  return { afterMs: periodMs };
}

/** One category after the other, each with the claim as it is then: the second finds it being deleted. */
async function interruptInstance(
  { instanceId, categories }: UnhealthyInstance,
  context: ControllerContext,
  options: InstanceStatusOptions,
): Promise<void> {
  const view = context.view<NodeClaimObject>(karpenterTypes.NodeClaim);
  for (const category of categories) {
    for (const claim of view.byIndex("instance-id", instanceId)) {
      await interruptClaim(claim, category, { context, options });
    }
  }
}

/** Counts each finding once, until the instance has recovered from it. */
function countNew(
  unhealthy: readonly UnhealthyInstance[],
  { counted, metrics }: { readonly counted: CountedInstances } & Pick<InstanceStatusOptions, "metrics">,
): void {
  const findings = unhealthy.flatMap(({ instanceId, categories }) =>
    categories.map((category) => ({ key: `${instanceId} ${category}`, category })),
  );
  for (const { key, category } of findings) {
    if (!counted.keys.has(key)) metrics?.count("interruption_instance_status_unhealthy_total", { category });
  }
  counted.keys = new Set(findings.map(({ key }) => key));
}
