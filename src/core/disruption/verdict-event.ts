import { annotations, labels } from "../../api/labels.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import type { DisruptionMethodName } from "./methods.ts";
import type { NodeVerdict, PodError } from "./verdict.ts";

/** An event on a Node and its claim that says why it stays. (03 §6.2) */
export interface VerdictEvent {
  readonly reason: "DisruptionBlocked" | "Unconsolidatable";
  readonly message: string;
}

const podErrorsShown = 5;

/** In the words people search for; undefined where nothing is recorded. (03 §4.2, D-35, D-44) */
export function verdictEvent(verdict: NodeVerdict, method: DisruptionMethodName): VerdictEvent | undefined {
  const blocked = blockedMessage(verdict);
  if (blocked !== undefined) return { reason: "DisruptionBlocked", message: blocked };
  if (verdict.code === "pods-unschedulable") {
    const reason = method === "drift" ? "DisruptionBlocked" : "Unconsolidatable";
    return { reason, message: podErrorsMessage(verdict.pods) };
  }
  const unconsolidatable = unconsolidatableMessage(verdict);
  return unconsolidatable === undefined ? undefined : { reason: "Unconsolidatable", message: unconsolidatable };
}

function blockedMessage(verdict: NodeVerdict): string | undefined {
  switch (verdict.code) {
    case "no-node":
      return "Nodeclaim does not have an associated node";
    case "not-initialized":
      return "Node isn't initialized";
    case "deleting":
      return "Node is deleting or marked for deletion";
    case "nominated":
      return "Node is nominated for a pending pod";
    case "node-protected":
      return `Disruption is blocked through the "${annotations.doNotDisrupt}" annotation`;
    case "no-pool-label":
      return `Node doesn't have required label (label=${labels.nodePool})`;
    case "pool-not-found":
      return `NodePool not found (NodePool=${verdict.pool})`;
    case "pod-protected":
      return `Pod has "${annotations.doNotDisrupt}" annotation (Pod=${verdict.pod})`;
    case "pdb":
      return verdict.budgets.length > 1
        ? `Eviction does not support multiple PDBs (PodDisruptionBudget(s)=[${verdict.budgets.join(" ")}])`
        : `Pdb prevents pod evictions (PodDisruptionBudget=[${verdict.budgets.join(" ")}])`;
    default:
      return undefined;
  }
}

function unconsolidatableMessage(verdict: NodeVerdict): string | undefined {
  switch (verdict.code) {
    case "unknown-instance-type":
      return `Instance Type "${verdict.instanceType}" not found`;
    case "missing-label":
      return `Node does not have label "${verdict.label}"`;
    case "consolidation-disabled":
      return `NodePool "${verdict.pool}" has consolidation disabled`;
    case "policy-when-empty":
      return `NodePool "${verdict.pool}" has consolidation policy WhenEmpty, but node is not empty`;
    case "buffer-pods":
      return `Node "${verdict.node}" has buffer pods`;
    case "needs-more-nodes":
      return `Can't remove without creating ${verdict.newNodes.length} candidates`;
    case "no-room":
      return `Not all pods would schedule, there is not enough ${verdict.resource} for them`;
    case "no-cheaper-type":
      return "Can't replace with a cheaper node";
    case "min-values":
      return `Filtering by price: ${verdict.message}`;
    case "saving-too-small":
      return `Saves $${verdict.savings.toFixed(4)}/hour, less than the $${verdict.minimum.toFixed(4)}/hour of annotation ${annotations.minSaving} on NodePool "${verdict.pool}"`;
    case "min-saving-invalid":
      return `NodePool "${verdict.pool}" has an invalid annotation ${annotations.minSaving}: "${verdict.value}"`;
    case "undoes-recent-move":
      return `Would undo the consolidation at ${rfc3339(verdict.movedAtMs)}, and neither pods nor prices have changed since`;
    case "spot-to-spot-disabled":
      return "SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node";
    case "spot-flexibility":
      return `SpotToSpotConsolidation requires ${verdict.needed} cheaper instance type options than the current candidate to consolidate, got ${verdict.found}`;
    default:
      return undefined;
  }
}

/** Up to five pods. (02:Q-54, 03:D-44) */
function podErrorsMessage(pods: readonly PodError[]): string {
  const shown = pods.slice(0, podErrorsShown).map(({ pod, message }) => `${pod} => ${message} `);
  const more = pods.length >= podErrorsShown ? ` and ${pods.length - podErrorsShown} other(s)` : "";
  return `Not all pods would schedule, ${shown.join("")}${more}`;
}
