import type { PlannedNode } from "../../src/core/scheduling/decision.ts";
import { podName, podsOnNodes, type Read } from "../builders/readers.ts";

/** Everything a reader could see of a decision, as text and numbers. */
export function readable(decision: Read & { readonly emptyPools: readonly unknown[] }) {
  return {
    placements: podsOnNodes(decision),
    newNodes: decision.newNodes.map(readableNode),
    refusals: decision.refusals.map(({ pod, message }) => `${podName(pod)}: ${withoutChance(message)}`),
    emptyPools: decision.emptyPools,
  };
}

function readableNode({ pool, pods, requirements, instanceTypes, ...node }: PlannedNode) {
  return {
    pool,
    pods: pods.map(podName),
    types: instanceTypes.map(({ name }) => name),
    price: node.price,
    requirements: String(requirements),
    requests: JSON.stringify(Object.entries(node.requests).sort()),
    minValuesRelaxed: node.minValuesRelaxed,
    reservations: [...node.reservations].sort(),
  };
}

/** Which number a candidate's placeholder gets says nothing, and how an unknown volume is told is not laid down. */
function withoutChance(message: string): string {
  return message
    .replaceAll(/hostname-placeholder-\d+/g, "hostname-placeholder-N")
    .replace("failed getting volume topology requirements, ", "");
}
