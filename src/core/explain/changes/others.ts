import type { Pod } from "../../../api/kubernetes/pod.ts";
import { labels } from "../../../api/labels.ts";
import type { Pool } from "../../scheduling/problem.ts";
import { adding, type Operation, removing, replacing } from "../patch.ts";
import { type Change, change, podObject, poolName, poolObject, together, weights } from "./change.ts";

/** Ask for less flexibility. (02:R-30) */
export function minValuesChanges(achieved: ReadonlyMap<string, number>, pool: Pool): readonly Change[] {
  const { requirements } = pool.nodePool.spec.template.spec;
  const lowered = requirements.flatMap(({ key, minValues }, index) => {
    const possible = achieved.get(key);
    if (minValues === undefined || possible === undefined || possible >= minValues) return [];
    const path = ["spec", "template", "spec", "requirements", index, "minValues"];
    return [
      change(poolObject(pool), {
        text: `lower minValues of ${key} in pool ${poolName(pool)} from ${minValues} to ${possible}`,
        weight: weights.widenPool,
        operations: [possible === 0 ? removing(path) : replacing(path, possible)],
      }),
    ];
  });
  const all = together(lowered);
  return lowered.length === 0 || all === undefined ? [] : [all];
}

/** Every minValues of a pool gone: where it is not known how far it falls short. */
export function withoutMinValues(pool: Pool): readonly Change[] {
  const { requirements } = pool.nodePool.spec.template.spec;
  const none = requirements.flatMap(({ key, minValues }, index) =>
    minValues === undefined
      ? []
      : [
          change(poolObject(pool), {
            text: `drop minValues of ${key} from pool ${poolName(pool)}`,
            weight: weights.dropPoolRule,
            operations: [removing(["spec", "template", "spec", "requirements", index, "minValues"])],
          }),
        ],
  );
  const all = together(none);
  return none.length === 0 || all === undefined ? [] : [...none, all];
}

/** Go without what is reserved. (02:Y-3) */
export function reservedChanges(pod: Pod): readonly Change[] {
  return ["on-demand", "spot"].map((capacityType) =>
    change(podObject(pod), {
      text: `let the pod do without reserved capacity (node selector ${labels.capacityType}: ${capacityType})`,
      weight: weights.drop,
      operations: [adding(pod, ["spec", "nodeSelector", labels.capacityType], capacityType)],
    }),
  );
}

/** 02:D-1. */
export function claimChanges(pod: Pod): readonly Change[] {
  const { resourceClaims = [], containers = [], initContainers = [] } = pod.spec;
  const operations: Operation[] = [
    ...(resourceClaims.length > 0 ? [removing(["spec", "resourceClaims"])] : []),
    ...[...containers.entries()].flatMap(([index, { resources }]) =>
      resources?.claims === undefined ? [] : [removing(["spec", "containers", index, "resources", "claims"])],
    ),
    ...[...initContainers.entries()].flatMap(([index, { resources }]) =>
      resources?.claims === undefined ? [] : [removing(["spec", "initContainers", index, "resources", "claims"])],
    ),
  ];
  return [
    change(podObject(pod), { text: "drop the pod's resource claims", weight: weights.dropConstraint, operations }),
  ];
}

/** Ports of the node a pod takes, given up. */
export function portChanges(pod: Pod): readonly Change[] {
  const operations = (pod.spec.containers ?? []).flatMap(({ ports = [] }, container) =>
    ports.flatMap(({ hostPort = 0 }, port) =>
      hostPort === 0 ? [] : [removing(["spec", "containers", container, "ports", port, "hostPort"])],
    ),
  );
  if (operations.length === 0) return [];
  return [change(podObject(pod), { text: "drop the pod's host ports", weight: weights.drop, operations })];
}
