import type { Draw } from "./draw.ts";
import { keys, poolNames, teams } from "./names.ts";
import type { RequirementItem } from "./problem.ts";
import type { RandomCatalogue } from "./random-catalogue.ts";

/** A label and values of it that occur, and sometimes one that nobody has. */
export function keyAndValues(
  draw: Draw,
  { zones, typeNames, hasReservations }: RandomCatalogue,
): readonly [string, readonly string[]] {
  const choices: readonly (readonly [string, readonly string[]])[] = [
    [keys.zone, [...zones, "test-zone-z"]],
    [keys.zone, zones],
    [keys.zone, zones],
    [keys.capacityType, hasReservations ? ["spot", "on-demand", "reserved"] : ["spot", "on-demand"]],
    [keys.arch, ["amd64", "arm64"]],
    [keys.os, ["linux", "windows"]],
    [keys.instanceType, [...typeNames, "unknown.type"]],
    [keys.instanceFamily, ["c", "m", "s", "c0", "m1"]],
    [keys.instanceSize, ["large", "xlarge", "4", "8"]],
    [keys.team, [...teams, "green"]],
    [keys.nodePool, poolNames],
  ];
  const [key, values] = draw.pick(choices);
  return [key, values];
}

export function randomRequirement(draw: Draw, catalogue: RandomCatalogue): RequirementItem {
  const [key, values] = keyAndValues(draw, catalogue);
  switch (draw.pick(["In", "In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"] as const)) {
    case "In":
      return { key, operator: "In", values: draw.some(values, 1, 3) };
    case "NotIn":
      return { key, operator: "NotIn", values: draw.some(values, 1, 2) };
    case "Exists":
      return { key, operator: "Exists" };
    case "DoesNotExist":
      return { key, operator: "DoesNotExist" };
    case "Gt":
      return { key: keys.instanceCpu, operator: draw.pick(["Gt", "Gte"]), values: [draw.pick(["1", "3", "4", "8"])] };
    case "Lt":
      return { key: keys.instanceCpu, operator: draw.pick(["Lt", "Lte"]), values: [draw.pick(["4", "5", "9", "32"])] };
  }
}

/** The same as a pod may write them: node affinity has neither Gte nor Lte. */
export function randomPodRequirement(draw: Draw, catalogue: RandomCatalogue): RequirementItem {
  const item = randomRequirement(draw, catalogue);
  return { ...item, operator: item.operator.replace(/^(Gt|Lt)e$/, "$1") };
}
