import type { Conditioned } from "../../api/conditions/condition.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { KubeObject } from "../../api/object.ts";
import type { PoolSelection, UnusablePoolReason } from "../round/usable-pools.ts";
import type { PoolFinding } from "./explanation.ts";

const texts: Readonly<Record<Exclude<UnusablePoolReason, "not-ready">, string>> = {
  "foreign-class": "has a node class of another provider",
  static: "is static (spec.replicas): it keeps its own number of nodes and launches none for pods",
  deleting: "is being deleted",
};

/** Pools that launch nothing for pods, and why; of a class that is not ready, its own condition. (02:P-33) */
export function unusablePoolFindings(
  unusable: PoolSelection["unusable"],
  nodeClasses: readonly KubeObject[],
): readonly PoolFinding[] {
  return unusable.map(({ pool, because }) => ({
    pool: pool.metadata.name ?? "",
    reasons: [
      {
        code: "pool-unusable",
        because,
        text: because === "not-ready" ? `is not Ready: ${notReadyText(pool, nodeClasses)}` : texts[because],
      },
    ],
  }));
}

function notReadyText(pool: NodePool, nodeClasses: readonly KubeObject[]): string {
  const { kind, name } = pool.spec.template.spec.nodeClassRef;
  const nodeClass = nodeClasses.find((one) => one.kind === kind && one.metadata.name === name);
  const own = failedCondition(nodeClass as Conditioned | undefined);
  if (own !== undefined) return `${kind} ${name} has ${own}`;
  return failedCondition(pool as Conditioned) ?? `the controller has not checked it and its ${kind} ${name} yet`;
}

/** The condition that decides: not Ready itself, which only sums up the others. */
function failedCondition(object: Conditioned | undefined): string | undefined {
  const failed = (object?.status?.conditions ?? []).filter(({ status }) => status !== "True");
  const { type, status, reason = "", message = "" } = failed.find((one) => one.type !== "Ready") ?? failed[0] ?? {};
  if (type === undefined) return undefined;
  const why = [reason, message].filter((text) => text !== "" && text !== type).join(": ");
  return `${type} ${status}${why === "" ? "" : ` (${why})`}`;
}
