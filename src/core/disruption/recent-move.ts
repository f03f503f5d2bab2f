import type { Pod } from "../../api/kubernetes/pod.ts";
import { namespaceOf } from "../../api/object.ts";
import { podRequests, QuantityReader } from "../pod-requests.ts";
import type { DisruptionCandidate } from "./candidate.ts";
import type { DisruptionCommand } from "./command.ts";
import type { MovedNode, RecentMove } from "./snapshot.ts";
import type { DecisionCause } from "./verdict.ts";

/** For how long a consolidation is remembered, so that it is not undone or repeated. */
export const recentMoveMs = 60 * 60_000;

export function recentMove(command: DisruptionCommand, claims: readonly string[], atMs: number): RecentMove {
  return {
    atMs,
    gone: command.candidates.map(movedNode),
    came: command.replacements.map(({ pods }, index) => ({ claim: claims[index] ?? "", pods: podsText(pods) })),
  };
}

/**
 * Why a command would undo a recent one, though nothing it was decided on has changed: it replaces the replacement by what
 * was there before, or it removes a node like one that went, to which the same pods came back. (03:D-58a)
 */
export function undoneMove(
  command: DisruptionCommand,
  moves: readonly RecentMove[],
  nowMs: number,
): DecisionCause | undefined {
  const recent = moves.filter(({ atMs }) => nowMs < atMs + recentMoveMs);
  if (recent.length === 0) return undefined;
  const nodes = command.candidates.map((candidate) => new NodeToMove(candidate));
  for (const move of recent) {
    const back = nodes.filter((one) => one.isComeBack(move) || one.isTurnedBack(move, command));
    if (back.length === 0) continue;
    const untilMs = move.atMs + recentMoveMs;
    return { code: "undoes-recent-move", nodes: back.map(({ name }) => name), movedAtMs: move.atMs, untilMs };
  }
  return undefined;
}

/** A node of a command. Its pods are compared last: there may be hundreds of moves. */
class NodeToMove {
  readonly #candidate: DisruptionCandidate;
  readonly #shape: string;
  #podsText: string | undefined;

  constructor(candidate: DisruptionCandidate) {
    this.#candidate = candidate;
    this.#shape = shapeOf(candidate);
  }

  get name(): string {
    return this.#candidate.name;
  }

  get #pods(): string {
    this.#podsText ??= podsText(this.#candidate.reschedulablePods);
    return this.#podsText;
  }

  /** The pods were moved away from a node like this, and a node was created for them again. */
  isComeBack({ atMs, gone, came }: RecentMove): boolean {
    const { claim, price } = this.#candidate;
    const { creationTimestamp = "", name } = claim.metadata;
    const alike = gone.filter((one) => one.shape === this.#shape && one.price === price);
    if (alike.length === 0 || Date.parse(creationTimestamp) + 1_000 <= atMs) return false;
    return !came.some((one) => one.claim === name) && alike.some(({ pods }) => pods === this.#pods);
  }

  /** It is the replacement of the move, and would be replaced by a type it replaced, for the same pods and prices. */
  isTurnedBack({ gone, came }: RecentMove, { replacements }: DisruptionCommand): boolean {
    const own = came.find(({ claim }) => claim === this.#candidate.claim.metadata.name);
    if (own === undefined || own.pods !== this.#pods) return false;
    return replacements.some(({ pool, instanceTypes: [cheapest], price }) =>
      gone.some((one) => one.pool === pool && one.instanceType === cheapest?.name && one.price === price),
    );
  }
}

function movedNode(candidate: DisruptionCandidate): MovedNode {
  const { pool, instanceType, price, reschedulablePods } = candidate;
  return {
    shape: shapeOf(candidate),
    pool: pool.name,
    instanceType: instanceType?.name ?? "",
    price,
    pods: podsText(reschedulablePods),
  };
}

/** What another node has in common with it. */
function shapeOf({ pool, instanceType, capacityType }: DisruptionCandidate): string {
  return [pool.name, instanceType?.name, capacityType].join(" ");
}

/** Pods by who owns them and what they request: a pod that is created anew is the same to a move. */
function podsText(pods: readonly Pod[]): string {
  const reader = new QuantityReader();
  const texts = pods.map((pod) => {
    const { metadata } = pod;
    const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
    const requests = Object.entries(podRequests(pod, reader)).map(([name, amount]) => `${name}=${amount.toNumber()}`);
    return [namespaceOf(metadata), owner?.uid ?? metadata.name, ...requests.sort()].join(" ");
  });
  return texts.sort().join("\n");
}
