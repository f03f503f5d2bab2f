import type { Pod } from "../../../api/kubernetes/pod.ts";
import { labels } from "../../../api/labels.ts";
import type { Pool } from "../../scheduling/problem.ts";
import { addOperation, type PatchOperation, removeOperation, replaceOperation } from "../json-patch.ts";
import {
  type CandidateChange,
  changeOf,
  changeWeights,
  combineChanges,
  editedNodePool,
  editedPod,
  poolName,
} from "./candidate-change.ts";

/** Lowers minValues to what is available. (02:R-30) */
export function minValuesChanges(achieved: ReadonlyMap<string, number>, pool: Pool): readonly CandidateChange[] {
  const { requirements } = pool.nodePool.spec.template.spec;
  const lowered = requirements.flatMap(({ key, minValues }, index) => {
    const possible = achieved.get(key);
    if (minValues === undefined || possible === undefined || possible >= minValues) return [];
    const path = ["spec", "template", "spec", "requirements", index, "minValues"];
    return [
      changeOf(editedNodePool(pool), {
        text: `lower minValues of ${key} in NodePool ${poolName(pool)} from ${minValues} to ${possible}`,
        weight: changeWeights.widenPool,
        operations: [possible === 0 ? removeOperation(path) : replaceOperation(path, possible)],
      }),
    ];
  });
  const all = combineChanges(lowered);
  return lowered.length === 0 || all === undefined ? [] : [all];
}

/** Drops minValues, where it is not known what is available. */
export function dropMinValuesChanges(pool: Pool): readonly CandidateChange[] {
  const { requirements } = pool.nodePool.spec.template.spec;
  const none = requirements.flatMap(({ key, minValues }, index) =>
    minValues === undefined
      ? []
      : [
          changeOf(editedNodePool(pool), {
            text: `drop minValues of ${key} from NodePool ${poolName(pool)}`,
            weight: changeWeights.dropPoolRule,
            operations: [removeOperation(["spec", "template", "spec", "requirements", index, "minValues"])],
          }),
        ],
  );
  const all = combineChanges(none);
  return none.length === 0 || all === undefined ? [] : [...none, all];
}

/** Selects capacity that is not reserved. (02:Y-3) */
export function reservedCapacityChanges(pod: Pod): readonly CandidateChange[] {
  return ["on-demand", "spot"].map((capacityType) =>
    changeOf(editedPod(pod), {
      text: `do not use reserved capacity for the pod (node selector ${labels.capacityType}: ${capacityType})`,
      weight: changeWeights.drop,
      operations: [addOperation(pod, ["spec", "nodeSelector", labels.capacityType], capacityType)],
    }),
  );
}

/** Drops the pod's resource claims, which are not supported. (02:D-1) */
export function resourceClaimChanges(pod: Pod): readonly CandidateChange[] {
  const { resourceClaims = [], containers = [], initContainers = [] } = pod.spec;
  const operations: PatchOperation[] = [
    ...(resourceClaims.length > 0 ? [removeOperation(["spec", "resourceClaims"])] : []),
    ...[...containers.entries()].flatMap(([index, { resources }]) =>
      resources?.claims === undefined ? [] : [removeOperation(["spec", "containers", index, "resources", "claims"])],
    ),
    ...[...initContainers.entries()].flatMap(([index, { resources }]) =>
      resources?.claims === undefined
        ? []
        : [removeOperation(["spec", "initContainers", index, "resources", "claims"])],
    ),
  ];
  return [
    changeOf(editedPod(pod), {
      text: "drop the pod's resource claims",
      weight: changeWeights.dropConstraint,
      precedence: "last-resort",
      operations,
    }),
  ];
}

export function hostPortChanges(pod: Pod): readonly CandidateChange[] {
  const operations = (pod.spec.containers ?? []).flatMap(({ ports = [] }, container) =>
    ports.flatMap(({ hostPort = 0 }, port) =>
      hostPort === 0 ? [] : [removeOperation(["spec", "containers", container, "ports", port, "hostPort"])],
    ),
  );
  if (operations.length === 0) return [];
  return [changeOf(editedPod(pod), { text: "drop the pod's host ports", weight: changeWeights.drop, operations })];
}
