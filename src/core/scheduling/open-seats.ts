import { labels } from "../../api/labels.ts";
import { mapping, type Steps } from "../../util/steps.ts";
import { subtract } from "../resources.ts";
import { type Daemon, daemonsOnNode } from "./daemons.ts";
import type { LabelReader } from "./label-reader.ts";
import type { Outlines } from "./outline.ts";
import type { NodeSeat } from "./pass-state.ts";
import type { ExistingNode } from "./problem.ts";
import type { ResourceSpace } from "./resource-space.ts";

export interface SeatTools {
  /** Those that count. */
  readonly daemons: readonly Daemon[];
  readonly space: ResourceSpace;
  readonly nodeOutlines: Outlines;
  readonly labelReader: LabelReader;
}

export function openingSeats(nodes: readonly ExistingNode[], tools: SeatTools): Steps<readonly NodeSeat[]> {
  return mapping(nodes, (node, index) => seatOf(node, index, tools));
}

/** What a node has left once the daemons it still lacks have arrived. (02 §5.4) */
function seatOf(node: ExistingNode, index: number, { daemons, space, nodeOutlines, labelReader }: SeatTools): NodeSeat {
  const withHost = labelReader.read({ ...node.labels, [labels.hostname]: node.hostname });
  const coming = daemonsOnNode(daemons, { requirements: withHost, taints: node.taints });
  const missing = Object.fromEntries(
    Object.entries(subtract(coming, node.daemonRequests)).filter(([, quantity]) => quantity.sign() > 0),
  );
  const remaining = space.offered(node.available);
  for (const [dimension, amount] of space.asked(missing).entries()) (remaining[dimension] as number) -= amount;
  return {
    index,
    node,
    outline: nodeOutlines.of(withHost.without(labels.hostname)),
    remaining,
    hostPorts: node.hostPorts,
    volumes: node.volumes,
    pods: [],
  };
}

/** Initialized nodes first, then by name. (02:T-8, 02 §12.1-6) */
export function byNodeOrder(a: ExistingNode, b: ExistingNode): number {
  if (a.isInitialized !== b.isInitialized) return a.isInitialized ? -1 : 1;
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.providerId === b.providerId ? 0 : a.providerId < b.providerId ? -1 : 1;
}
