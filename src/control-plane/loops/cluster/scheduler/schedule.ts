import type { Random } from "../../../../util/random.ts";
import { type Filters, filtersFor } from "./filters.ts";
import { NodeView } from "./node-view.ts";
import type { PodProfile } from "./profile.ts";
import { type ScoringOptions, scoresFor } from "./scores.ts";
import { type Snapshot, withNode } from "./snapshot.ts";
import { type FilterName, histogram, type Refusal, unschedulableMessage } from "./verdict.ts";

export interface ScheduleOptions extends Partial<ScoringOptions> {
  /** Breaks ties; the first by name wins without it. */
  readonly random?: Random | undefined;
}

/** Where a pod goes, or why it goes nowhere. */
export type Placement =
  | { readonly kind: "node"; readonly node: string }
  | {
      readonly kind: "unschedulable";
      /** Without what was tried by preemption. */
      readonly message: string;
      readonly why: string;
      /** Who said no: what may change their mind is a reason to try again. */
      readonly filters: ReadonlySet<FilterName>;
      readonly refusals: ReadonlyMap<string, Refusal>;
    };

/** One pod's place among the nodes. Pure: the same pod, snapshot and dice give the same answer. (05:CP-L9) */
export function schedule(pod: PodProfile, snapshot: Snapshot, options: ScheduleOptions = {}): Placement {
  const filters = filtersFor(pod, snapshot);
  if (filters.problem !== undefined) return impossible(filters.problem, snapshot);
  const refusals = new Map<string, Refusal>();
  const feasible: NodeView[] = [];
  for (const node of snapshot.nodes) {
    const refusal = filters.ask(node) ?? besideNominated(pod, node, snapshot);
    if (refusal === undefined) feasible.push(node);
    else refusals.set(node.name, refusal);
  }
  const [first, second] = feasible;
  if (first === undefined) return refused(snapshot, refusals);
  if (second === undefined) return { kind: "node", node: first.name };
  return { kind: "node", node: bestOf(pod, feasible, { snapshot, options }).name };
}

/** Room promised to others of at least this priority is taken already. */
function besideNominated(pod: PodProfile, node: NodeView, snapshot: Snapshot): Refusal | undefined {
  const promised = snapshot.nominated.get(node.name)?.filter((other) => isAhead(other, pod)) ?? [];
  if (promised.length === 0) return undefined;
  const crowded = new NodeView(node.facts, [...node.pods.values(), ...promised]);
  return refusalOf(filtersFor(pod, withNode(snapshot, crowded)), crowded);
}

function isAhead(other: PodProfile, pod: PodProfile): boolean {
  return other.key !== pod.key && other.priority >= pod.priority;
}

export function refusalOf(filters: Filters, node: NodeView): Refusal | undefined {
  if (filters.problem === undefined) return filters.ask(node);
  return { filter: "volumes", reasons: [filters.problem], isResolvable: false };
}

function bestOf(
  pod: PodProfile,
  feasible: readonly NodeView[],
  { snapshot, options }: { readonly snapshot: Snapshot; readonly options: ScheduleOptions },
): NodeView {
  const scores = scoresFor(pod, feasible, { snapshot, packing: options.packing ?? "least-allocated" });
  const most = scores.reduce((high, score) => Math.max(high, score), Number.NEGATIVE_INFINITY);
  const equals = feasible.filter((_, at) => scores[at] === most);
  return options.random === undefined ? (equals[0] as NodeView) : options.random.pick(equals);
}

function refused({ nodes }: Snapshot, refusals: ReadonlyMap<string, Refusal>): Placement {
  if (nodes.length === 0) {
    const why = "no nodes available to schedule pods";
    return { kind: "unschedulable", message: why, why: "", filters: new Set(), refusals };
  }
  const why = histogram([...refusals.values()].map(({ reasons }) => reasons));
  const filters = new Set([...refusals.values()].map(({ filter }) => filter));
  return { kind: "unschedulable", message: unschedulableMessage(nodes.length, why), why, filters, refusals };
}

function impossible(problem: string, { nodes }: Snapshot): Placement {
  const refusal: Refusal = { filter: "volumes", reasons: [problem], isResolvable: false };
  return {
    kind: "unschedulable",
    message: unschedulableMessage(nodes.length, problem),
    why: problem,
    filters: new Set(["volumes"]),
    refusals: new Map(nodes.map(({ name }) => [name, refusal])),
  };
}
