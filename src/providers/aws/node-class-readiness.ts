import { isNodeClassLaunchable } from "../../api/conditions/ec2-node-class.ts";
import { getCondition } from "../../api/conditions/set-condition.ts";
import type { Ec2NodeClass } from "../../api/kinds/ec2-node-class.ts";
import { CloudError } from "../../cloud/cloud-error.ts";

/** Throws unless the class is ready and its status is of this generation. (04 §3.1-2) */
export function assertNodeClassLaunchable(nodeClass: Ec2NodeClass): void {
  const ready = getCondition(nodeClass, "Ready");
  if (ready === undefined || ready.status === "Unknown") {
    throw new CloudError("create-failed", ready?.message || "the node class has not been reconciled yet", {
      reason: "NodeClassReadinessUnknown",
    });
  }
  if (ready.status === "False") throw new CloudError("node-class-not-ready", ready.message ?? ready.reason ?? "");
  if (!isNodeClassLaunchable(nodeClass)) {
    throw new CloudError("node-class-not-ready", "the node class's status is of an older generation");
  }
}
