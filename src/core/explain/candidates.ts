import { Quantity } from "../../util/quantity.ts";
import type { Cause } from "../scheduling/refusal.ts";
import { allUntolerated } from "../tolerations.ts";
import type { Change } from "./changes/change.ts";
import { together } from "./changes/change.ts";
import { conflictChanges } from "./changes/labels.ts";
import { machineChanges } from "./changes/machines.ts";
import { claimChanges, minValuesChanges, portChanges, reservedChanges, withoutMinValues } from "./changes/others.ts";
import { lowering } from "./changes/sizes.ts";
import { taintChanges, tolerating } from "./changes/taints.ts";
import { topologyChanges } from "./changes/topology.ts";
import { claimRepairs, volumeMoves, volumePlaces } from "./changes/volumes.ts";
import { isTypeLabel } from "./machines.ts";
import type { PoolSituation, Situation } from "./situation.ts";

/** Changes worth trying, those with the fewest steps and the least weight first. Whether they help is yet to be seen. */
export function candidatesFor(situation: Situation): readonly Change[] {
  const { pod, problem, whole, pools } = situation;
  if (whole?.code === "dynamic-resources") return claimChanges(pod);
  if (whole !== undefined) return inOrder(claimRepairs(pod, problem));
  return inOrder([...pools.flatMap((pool) => poolCandidates(situation, pool)), ...nodeCandidates(situation)]);
}

export function inOrder(changes: readonly Change[]): readonly Change[] {
  const distinct = new Map<string, Change>();
  for (const one of changes) {
    const key = JSON.stringify(one.edits);
    const known = distinct.get(key);
    if (known === undefined || one.weight < known.weight) distinct.set(key, one);
  }
  return [...distinct.values()].sort(
    (a, b) => a.steps - b.steps || a.weight - b.weight || (a.text < b.text ? -1 : a.text > b.text ? 1 : 0),
  );
}

/** Ways past every obstacle of one pool at once. */
function poolCandidates(situation: Situation, at: PoolSituation): readonly Change[] {
  const ways = obstaclesOf(situation, at);
  if (ways.length === 0 || ways.some((one) => one.length === 0)) return [];
  const most = ways.length === 1 ? Number.POSITIVE_INFINITY : ways.length === 2 ? 6 : 2;
  let combinations: readonly (readonly Change[])[] = [[]];
  for (const options of ways) {
    const best = inOrder(options).slice(0, most);
    combinations = combinations.flatMap((chosen) => best.map((one) => [...chosen, one]));
  }
  return combinations.flatMap((chosen) => together(chosen) ?? []);
}

/** For each obstacle the ways past it. What a machine of another kind would solve is one obstacle, not several. */
function obstaclesOf(situation: Situation, at: PoolSituation): readonly (readonly Change[])[] {
  const { pod, problem } = situation;
  const { pool, obstacles } = at;
  const machine = (): readonly Change[] => machineWays(situation, at);
  if (obstacles === undefined) return [[...machine(), ...withoutMinValues(pool)]];
  const { causes } = obstacles;
  const taints = causes.flatMap((cause) => (cause.code === "taint" ? [cause.taint] : []));
  const conflicts = causes.flatMap((cause) =>
    cause.code === "requirements" ? cause.conflicts.filter(({ key }) => !isTypeLabel(key, pool)) : [],
  );
  const policy = problem.labelPolicy;
  return [
    ...(taints.length > 0 ? [taintChanges(taints, { pod, pool })] : []),
    ...conflicts.map((conflict) => conflictChanges(conflict, { pod, pool, policy })),
    ...(causes.some((cause) => isOfMachines(cause, at)) ? [machine()] : []),
    ...causes.flatMap((cause) => otherWays(cause, situation, at)),
  ];
}

function isOfMachines(cause: Cause, { pool }: PoolSituation): boolean {
  switch (cause.code) {
    case "limits":
    case "node-limit":
    case "instance-types":
    case "volume-requirements":
      return true;
    case "requirements":
      return cause.conflicts.some(({ key }) => isTypeLabel(key, pool));
    default:
      return false;
  }
}

function otherWays(cause: Cause, { problem, pod }: Situation, { pool }: PoolSituation): readonly (readonly Change[])[] {
  switch (cause.code) {
    case "topology":
      return [topologyChanges(cause, { problem, pod, pool })];
    case "min-values":
      return [[...minValuesChanges(cause.achieved, pool), ...withoutMinValues(pool)]];
    case "reserved-capacity":
      return [reservedChanges(pod)];
    default:
      return [];
  }
}

/** Another machine, another place for the volumes, other ports; where topology has picked the place, another pick. */
function machineWays(situation: Situation, at: PoolSituation): readonly Change[] {
  const { pod, problem, waiting, seeker } = situation;
  const { pool } = at;
  const places = new Map(volumePlaces(pod, problem));
  for (const key of places.keys()) places.set(key, [...new Set([...(places.get(key) ?? []), ...valuesIn(at, key)])]);
  const volumes = pod.spec.volumes === undefined ? [] : volumeMoves(pod, problem, places);
  const isTiedByTypes = at.obstacles?.causes.some(({ code }) => code === "instance-types") ?? false;
  const picks = isTiedByTypes
    ? seeker.variant.domainRules.flatMap(({ group: { spec } }) =>
        topologyChanges(
          { code: "topology", kind: spec.kind, key: spec.key, counts: {}, podDomains: "", nodeDomains: "" },
          { problem, pod, pool },
        ),
      )
    : [];
  return [
    ...machineChanges({ pod, pool, machines: at.machines(), waiting, volumeChanges: volumes }),
    ...volumes,
    ...(isTiedByTypes ? portChanges(pod) : []),
    ...picks,
  ];
}

/** Values of a label that machines which suit otherwise have. */
function valuesIn({ pool }: PoolSituation, key: string): readonly string[] {
  const values = pool.instanceTypes.flatMap(({ requirements }) =>
    requirements.has(key) && !requirements.get(key).complement ? requirements.get(key).sortedValues() : [],
  );
  return [...new Set(values)].sort();
}

/** How many of the nodes that come nearest are considered. */
const mostNodes = 3;

/** What would make a node that exists take the pod, where that is the pod's to change. */
function nodeCandidates({ pod, nodes, round }: Situation): readonly Change[] {
  const { seats } = round.pass;
  return nodes.slice(0, mostNodes).flatMap(({ node, checks }) => {
    const seat = seats.find((one) => one.node.name === node);
    if (seat === undefined) return [];
    const reasons = checks.map(({ reason }) => reason);
    const codes = new Set(reasons.map(({ code }) => code));
    const isOurs = [...codes].every((code) => code === "taint" || code === "resources" || code === "host-port");
    if (!isOurs) return [];
    const ways = [
      ...(codes.has("taint") ? [tolerating(allUntolerated(pod.spec.tolerations, seat.node.taints), pod)] : []),
      ...reasons.flatMap((reason) =>
        reason.code === "resources"
          ? [lowering(pod, { resource: reason.resource, left: Quantity.parse(reason.available) })]
          : [],
      ),
      ...(codes.has("host-port") ? [portChanges(pod)[0]] : []),
    ];
    const all = ways.some((one) => one === undefined) ? undefined : together(ways.filter((one) => one !== undefined));
    return all === undefined ? [] : [{ ...all, weight: all.weight + 0.5 }];
  });
}
