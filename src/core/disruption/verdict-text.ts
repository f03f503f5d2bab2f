import { rfc3339 } from "../../util/timestamp.ts";
import type { BalancedScore, NodeVerdict, PodError, VerdictCause } from "./verdict.ts";

const podsShown = 5;

/** A verdict in one sentence for people. */
export function verdictText(verdict: NodeVerdict): string {
  return causeText(verdict);
}

const fixedTexts = {
  "in-command": "it is being disrupted already",
  unmanaged: "Karpenter does not manage it",
  "no-node": "its NodeClaim has no Node yet",
  "not-initialized": "it is not initialized",
  deleting: "it is being deleted",
  nominated: "a pending pod was just nominated to it",
  "node-protected": 'the Node has the annotation karpenter.sh/do-not-disrupt: "true"; remove it to allow disruption',
  "no-pool-label": "it has no label karpenter.sh/nodepool",
  "static-pool": "its NodePool is static",
  "dynamic-pool": "its NodePool is not static",
  "buffer-pods": "a capacity buffer uses it",
  "not-empty": "it is not empty",
  empty: "it is empty, and is removed as an empty node",
  "not-drifted": "it has not drifted",
  "spot-to-spot-disabled": "a spot node is replaced by a spot node only with the feature gate SpotToSpotConsolidation",
  "candidate-deleting": "it is being deleted by now",
  "too-few-nodes": "no second node may be disrupted together with it",
} as const;

type FixedCode = keyof typeof fixedTexts;

function isFixed(cause: VerdictCause): cause is VerdictCause & { readonly code: FixedCode } {
  return Object.hasOwn(fixedTexts, cause.code);
}

function causeText(cause: VerdictCause): string {
  if (isFixed(cause)) return fixedTexts[cause.code];
  switch (cause.code) {
    case "pool-not-found":
      return `NodePool ${cause.pool} does not exist, belongs to another provider, or has no instance types`;
    case "pod-protected":
      return `pod ${cause.pod} has the annotation karpenter.sh/do-not-disrupt${untilText(cause.untilMs)}`;
    case "pdb":
      return cause.budgets.length > 1
        ? `pod ${cause.pod} has several PodDisruptionBudgets (${cause.budgets.join(", ")}), so it cannot be evicted`
        : `PodDisruptionBudget ${cause.budgets.join("")} allows no eviction of pod ${cause.pod} now`;
    case "consolidation-disabled":
      return `NodePool ${cause.pool} has consolidateAfter: Never`;
    case "policy-when-empty":
      return `NodePool ${cause.pool} consolidates empty nodes only, and it is not empty`;
    case "not-consolidatable":
      return `consolidateAfter, which counts from its last pod event or its initialization, ${cause.untilMs === undefined ? "has not passed" : `lasts until ${rfc3339(cause.untilMs)}`}`;
    case "unknown-instance-type":
      return `instance type ${cause.instanceType || "(no label)"} is not offered, so its price is unknown`;
    case "missing-label":
      return `it has no label ${cause.label}, so its price is unknown`;
    default:
      return decisionText(cause);
  }
}

type OpenDecision = Exclude<
  VerdictCause,
  | { readonly code: FixedCode }
  | {
      readonly code:
        | "pool-not-found"
        | "pod-protected"
        | "pdb"
        | "consolidation-disabled"
        | "policy-when-empty"
        | "not-consolidatable"
        | "unknown-instance-type"
        | "missing-label";
    }
>;

function decisionText(cause: OpenDecision): string {
  switch (cause.code) {
    case "budget":
      return budgetText(cause);
    case "held-back":
      return `replacing nodes of NodePool ${cause.pool} failed recently; it is tried again${untilText(cause.untilMs)}`;
    case "scaling-down":
      return `NodePool ${cause.pool} first scales down from ${countOf(cause.nodes, "node")} to ${cause.replicas}`;
    case "node-limit":
      return `NodePool ${cause.pool} may have ${countOf(cause.limit, "node")}, so there is no room for a replacement`;
    case "no-room":
      return `its pods need ${amount(cause.needed)} ${cause.resource}, and ${amount(cause.free)} would be free`;
    case "pods-unschedulable":
      return `removing it would save ${dollars(cause.savings)}, but ${podErrorsText(cause.pods)}`;
    case "needs-more-nodes":
      return `its pods would need ${countOf(cause.newNodes.length, "new node")} (${cause.newNodes.map(({ pods }) => shortList(pods)).join("; ")}), which would ${savingsText(cause.savings)}${cause.savings > 0 ? ", but a node is replaced by one node only" : ""}`;
    case "no-cheaper-type":
      return cause.price > 0
        ? `no instance type for its pods is cheaper than ${dollars(cause.price)}`
        : "its price is not known, so nothing can be said to be cheaper";
    case "same-type":
      return "the replacement would be no cheaper than a node of the same type that is there already";
    case "min-values":
      return `the cheaper instance types do not meet minValues of ${cause.labels.join(", ")}`;
    case "spot-flexibility":
      return `a spot node is replaced only if ${cause.needed} spot types are cheaper; there are ${cause.found}`;
    case "score":
      return cause.scores
        .filter(({ isApproved }) => !isApproved)
        .map(scoreText)
        .join("; ");
    case "saving-too-small":
      return `it would ${savingsText(cause.savings)}, less than the ${dollars(cause.minimum)} that NodePool ${cause.pool} asks for (karpenter.sh/consolidation-min-saving)`;
    case "min-saving-invalid":
      return `NodePool ${cause.pool} has the annotation karpenter.sh/consolidation-min-saving: ${JSON.stringify(cause.value)}, which is neither dollars an hour ("0.05") nor a share ("10%"); correct or remove it`;
    case "undoes-recent-move":
      return `it would undo what was done at ${rfc3339(cause.movedAtMs)}, and neither pods nor prices have changed since; it is not done again${untilText(cause.untilMs)}`;
    case "destination":
      return "pods of nodes that are disrupted first move here";
    case "not-in-command":
      return triedText(cause.tried);
    case "not-reached":
      return cause.because === "command-found"
        ? "other nodes are disrupted first"
        : "not looked at yet, because the search was stopped; the next one begins here";
    case "possible":
    case "chosen":
      return `${cause.decision === "delete" ? "deleting" : "replacing"} it would ${savingsText(cause.savings)}`;
  }
}

const kinds = { Empty: "empty", Drifted: "drifted", Underutilized: "underutilized" } as const;

function budgetText({ pool, reason, allowed, disrupting }: Extract<VerdictCause, { readonly code: "budget" }>): string {
  const budgets = `the budgets of NodePool ${pool} allow`;
  const nodes = `of ${kinds[reason]} nodes`;
  if (allowed === 0) return `${budgets} no disruption ${nodes} now`;
  const atATime = `${budgets} ${countOf(allowed, "disruption")} ${nodes} at a time`;
  const busy = `${countOf(disrupting, "node")} ${disrupting === 1 ? "is" : "are"} being disrupted or not ready`;
  if (disrupting >= allowed) return `${atATime}, and ${busy}`;
  return `${atATime}, and other nodes go first${disrupting === 0 ? "" : `; ${busy}`}`;
}

function triedText(tried: readonly { readonly nodes: number; readonly cause: VerdictCause }[]): string {
  const [last] = tried.slice(-1);
  return last === undefined
    ? "it is not among the nodes that go together"
    : `${last.nodes} nodes together: ${causeText(last.cause)}`;
}

function scoreText({ pool, score, threshold }: BalancedScore): string {
  return `the saving is too small for the disruption: NodePool ${pool} scores ${score.toFixed(2)}, below ${threshold.toFixed(2)}`;
}

function podErrorsText(pods: readonly PodError[]): string {
  const shown = pods.slice(0, podsShown).map(({ pod, message }) => `pod ${pod} could not be scheduled: ${message}`);
  return [...shown, ...(pods.length > podsShown ? [`and ${pods.length - podsShown} more`] : [])].join("; ");
}

function shortList(pods: readonly string[]): string {
  return pods.length > podsShown
    ? `${pods.slice(0, podsShown).join(", ")} and ${pods.length - podsShown} more`
    : pods.join(", ");
}

function savingsText(savings: number): string {
  if (dollars(Math.abs(savings)) === dollars(0)) return "save nothing";
  return savings > 0 ? `save ${dollars(savings)}` : `cost ${dollars(-savings)} more`;
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function dollars(price: number): string {
  return `$${price.toFixed(4)}/hour`;
}

function amount(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}

function untilText(untilMs: number | undefined): string {
  return untilMs === undefined ? "" : ` until ${rfc3339(untilMs)}`;
}
