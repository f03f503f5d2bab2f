import { clash, hostPortsOf } from "../host-ports.ts";
import { untolerated } from "../tolerations.ts";
import { exceedsLimits } from "../volumes.ts";
import type { Seeker } from "./claims.ts";
import type { Outline } from "./outline.ts";
import type { NodeSeat, Pass } from "./pass-state.ts";
import { settle } from "./settle.ts";

/**
 * What a node's requirements would become with the pod on it; undefined: it cannot take it. What cannot heal within the
 * pass is remembered. (02 §5.4)
 */
export function fitOnNode(pass: Pass, { entry, variant }: Seeker, seat: NodeSeat): Outline | undefined {
  for (const { group, self, podDomains } of variant.hostRules) {
    if (group.allowsHost(seat.index, { self, pod: podDomains })) continue;
    if (group.refusesForGood) variant.deadNodes.add(seat.index);
    return undefined;
  }
  if (!hasPlace(pass, { entry, variant }, seat)) {
    variant.deadNodes.add(seat.index); // a node only fills up: it will not take such a pod again
    return undefined;
  }
  const merged = pass.nodeOutlines.merge(seat.outline, variant.incoming);
  if (merged === null) {
    // Otherwise not remembered: a label the node lacks becomes one it has once a pod that merely excludes values has joined.
    if (pass.nodeOutlines.excludes(seat.outline, variant.incoming)) variant.deadNodes.add(seat.index);
    return undefined;
  }
  const finish = (outline: Outline): Outline => outline;
  const { nodeOutlines: outlines } = pass;
  const { volumeAlternatives } = entry.podClass;
  if (volumeAlternatives.length === 0) return settle(merged, { variant, outlines, finish });
  for (const alternative of volumeAlternatives) {
    if (!(alternative.hostname?.has(seat.node.hostname) ?? true)) continue;
    const outline = outlines.merge(merged, alternative);
    const fit = outline === null ? undefined : settle(outline, { variant, outlines, finish });
    if (fit !== undefined) return fit;
  }
  return undefined;
}

/** What can only get worse: taints, volumes, ports, room, the name of the host. (02:E-1 to E-4) */
function hasPlace(pass: Pass, { entry, variant }: Seeker, seat: NodeSeat): boolean {
  const { podClass, pod } = entry;
  if (!hasRoom(seat.remaining, pass.requests.get(podClass) as Float64Array)) return false;
  if (untolerated(variant.tolerations, seat.node.taints) !== undefined) return false;
  if (exceedsLimits(seat.volumes, podClass.volumes) !== undefined) return false;
  if (podClass.hasHostPorts && clash(hostPortsOf(pod), seat.hostPorts) !== undefined) return false;
  return variant.hostname?.has(seat.node.hostname) ?? true;
}

/** One overcommitted resource blocks the node for all pods. (02:A-9) */
function hasRoom(remaining: Float64Array, request: Float64Array): boolean {
  for (let i = 0; i < remaining.length; i++) {
    const left = remaining[i] as number;
    if (left < 0 || (request[i] as number) > left) return false;
  }
  return true;
}
