import type { Pod } from "../../../api/kubernetes/pod.ts";
import { Quantity } from "../../../util/quantity.ts";
import type { Pool } from "../../scheduling/problem.ts";
import { type Excess, faultsOf, type LabelMiss, type Machine } from "../machines.ts";
import { adding, removing } from "../patch.ts";
import { shareLacking } from "../reasons.ts";
import { humanAmount } from "../words.ts";
import { type Change, change, poolName, poolObject, together, weights } from "./change.ts";
import { podLabelChanges, poolLabelChanges } from "./labels.ts";
import { lowering } from "./sizes.ts";

export interface MachineChoice {
  readonly pod: Pod;
  readonly pool: Pool;
  readonly machines: readonly Machine[];
  /** How many pods of this kind wait: limits may have to make room for all of them. */
  readonly waiting: number;
  /** Ways to bring the volumes to another place. */
  readonly volumeChanges: readonly Change[];
}

/** Enough to choose from; each is tried by planning again. */
const mostMachines = 10;
/** Of machines that differ only in a value or in how large they are. */
const mostAlike = 2;

/** What it takes to have one of the machines that come nearest. */
export function machineChanges(choice: MachineChoice): readonly Change[] {
  const nearest = [...byFaults(choice.machines)].slice(0, mostMachines);
  return nearest.flatMap((machine, rank) =>
    waysTo(machine, choice).map((one) => ({ ...one, weight: one.weight + rank / 100 })),
  );
}

/** Machines by their faults, fewest and lightest first; of those with the same faults only the best few. */
function byFaults(machines: readonly Machine[]): Iterable<Machine> {
  const weighed = machines
    .map((machine) => ({ machine, faults: faultsOf(machine), weight: weightOf(machine) }))
    .filter(({ faults }) => faults > 0)
    .sort((a, b) => a.faults - b.faults || a.weight - b.weight || a.machine.price - b.machine.price);
  const alike = new Map<string, Set<string>>();
  return weighed.flatMap(({ machine }) => {
    const known = alike.get(faultsText(machine)) ?? new Set();
    alike.set(faultsText(machine), known);
    const values = valuesText(machine);
    if (known.size >= mostAlike || known.has(values)) return [];
    known.add(values);
    return [machine];
  });
}

/** What is wrong. */
function faultsText({ poolMisses, podMisses, missesVolumes, shortages, excesses }: Machine): string {
  return JSON.stringify([
    [...poolMisses, ...podMisses].map(({ demand }) => demand.path),
    missesVolumes,
    shortages.map(({ resource }) => resource),
    excesses.map(({ resource }) => resource),
  ]);
}

/** What would be right instead. */
function valuesText({ poolMisses, podMisses, excesses }: Machine): string {
  return JSON.stringify([
    [...poolMisses, ...podMisses].map(({ value }) => value),
    excesses.map(({ needed }) => needed.canonical()),
  ]);
}

function weightOf({ poolMisses, podMisses, missesVolumes, shortages, excesses }: Machine): number {
  const lacking = shortages.reduce((sum, one) => sum + weights.lowerRequest + 6 * shareLacking(one), 0);
  const labels = poolMisses.length * weights.widenPool + podMisses.length * weights.changeValue;
  const raises = excesses.reduce((sum, { needed, limit }) => sum + weights.raiseLimit + growth(needed, limit), 0);
  return labels + lacking + raises + (missesVolumes ? weights.moveVolume : 0);
}

/** How much larger a limit gets, as something to add to a weight: doubling is 0.5. */
function growth(needed: Quantity, limit: Quantity): number {
  const [to, from] = [needed.toNumber(), limit.toNumber()];
  return from <= 0 ? 1 : Math.min(1, (to - from) / from / 2);
}

/** Each fault undone in its lightest way, and, where there is but one fault, in the other ways too. */
function waysTo(machine: Machine, choice: MachineChoice): readonly Change[] {
  const faults: (readonly Change[])[] = [
    ...machine.poolMisses.map(({ demand, value }: LabelMiss) => poolLabelChanges(demand, choice.pool, value)),
    ...machine.podMisses.map(({ demand, value }: LabelMiss) => podLabelChanges(demand, choice.pod, value)),
    ...machine.shortages.map((shortage) => [lowering(choice.pod, shortage)].filter((one) => one !== undefined)),
    ...machine.excesses.map((excess) => raises(excess, choice)),
    ...(machine.missesVolumes ? [choice.volumeChanges] : []),
  ];
  const [only = []] = faults;
  if (faults.length === 1) return only;
  if (faults.some((ways) => ways.length === 0)) return [];
  const most = Math.max(...faults.map((ways) => ways.length));
  // The lightest of each, then the next of each: all products would be too many.
  return Array.from({ length: Math.min(most, 3) }, (_, nth) =>
    together(faults.map((ways) => (ways[nth] ?? ways.at(-1)) as Change)),
  ).filter((one) => one !== undefined);
}

/** A little more, more for all that wait, or no limit at all: a larger limit lets others take larger machines. (02:H-3) */
function raises({ resource, limit, needed }: Excess, { pool, waiting }: MachineChoice): readonly Change[] {
  const step = needed.sub(limit);
  const path = ["spec", "limits", resource];
  const raised = (to: Quantity): Change => {
    return change(poolObject(pool), {
      text: `raise the ${resource} limit of pool ${poolName(pool)} by ${humanAmount(to.sub(limit).canonical())} to ${humanAmount(to.canonical())}`,
      weight: weights.raiseLimit + growth(to, limit),
      operations: [adding(pool.nodePool, path, to.canonical())],
    });
  };
  const multiples = [...new Set([1, waiting, 2, 4, 8])].filter((times) => times > 0).sort((a, b) => a - b);
  const most = multiples.map((times) => raised(limit.add(timesOf(step, times))));
  const dropped = change(poolObject(pool), {
    text: `drop the ${resource} limit of pool ${poolName(pool)}`,
    weight: weights.dropLimit,
    operations: [removing(path)],
  });
  return [...most, dropped];
}

function timesOf(quantity: Quantity, times: number): Quantity {
  return Quantity.fromNano(quantity.nano * BigInt(times), quantity.format);
}
