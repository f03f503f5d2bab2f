import type { Pod } from "../../api/kubernetes/pod.ts";
import { fitOnExistingNode } from "../scheduling/fit-on-existing-node.ts";
import type { SchedulingProblem } from "../scheduling/problem.ts";
import { type Variant, variantAt } from "../scheduling/variants.ts";
import { describeReason } from "./describe-reason.ts";
import { type DroppedPreference, preferencesBetween, withPreferenceRequired } from "./dropped-preferences.ts";
import { analyzePool } from "./placement-analysis.ts";
import { withoutUncountedPods } from "./reduce-problem.ts";
import { poolsByDistance } from "./refusal-distance.ts";
import { type PodLocation, type Simulation, simulateFor, simulateWithout } from "./simulation.ts";

/** Preferences a placed pod does without, and what refused each. (02:Q-40) */
export function preferencesPlacedWithout(
  problem: SchedulingProblem,
  podKey: string,
  location: PodLocation,
): readonly DroppedPreference[] {
  if (problem.policy.preferences !== "Respect") return [];
  const reduced = withoutUncountedPods(problem);
  // All other pods have their places: what refuses the pod then is what it gave its preference up for.
  const others = simulateWithout(reduced, podKey);
  if (others === undefined || variantOf(others, 1) === undefined) return [];
  const level =
    location.kind === "planned-node"
      ? plannedLevel(simulateFor(reduced, podKey))
      : existingLevel(others, location.placement.node);
  return Array.from({ length: level }, (_, at) => droppedAt(others, problem, at)).flat();
}

function variantOf({ pass, queuedPod }: Simulation, level: number): Variant | undefined {
  return variantAt(queuedPod.podClass, level, pass.variantContext);
}

/** How many preferences were dropped before the pod was placed on a planned node. */
function plannedLevel(simulation: Simulation | undefined): number {
  const placed = simulation?.queuedPod.placedVariant;
  if (simulation === undefined || placed === undefined) return 0;
  let level = 0;
  for (let variant = variantOf(simulation, 0); variant !== undefined; variant = variantOf(simulation, ++level))
    if (variant === placed) return level;
  return 0;
}

/** The same for a node that exists. */
function existingLevel(simulation: Simulation, name: string): number {
  const { pass, queuedPod } = simulation;
  const existingNode = pass.existingNodes.find(({ node }) => node.name === name);
  if (existingNode === undefined) return 0;
  let level = 0;
  for (let variant = variantOf(simulation, 0); variant !== undefined; variant = variantOf(simulation, ++level))
    if (fitOnExistingNode(pass, { queuedPod, variant }, existingNode) !== undefined) return level;
  return 0;
}

/** What the next relaxation drops, and why the pod was refused with it. */
function droppedAt(simulation: Simulation, problem: SchedulingProblem, level: number): readonly DroppedPreference[] {
  const [variant, relaxed] = [variantOf(simulation, level), variantOf(simulation, level + 1)];
  if (variant === undefined || relaxed === undefined) return [];
  const because = refusalOf(simulation, problem, variant);
  return preferencesBetween(variant.spec, relaxed.spec).map((text) => ({
    text,
    ...(because !== undefined && { because }),
  }));
}

function refusalOf(simulation: Simulation, { pools }: SchedulingProblem, variant: Variant): string | undefined {
  const { queuedPod } = simulation;
  const asked: Pod = { ...queuedPod.pod, spec: withPreferenceRequired(variant.spec) };
  const findings = pools
    .map((pool) => analyzePool(simulation, { queuedPod, variant }, { pool, pod: asked }).finding)
    .filter(({ reasons }) => reasons.length > 0);
  const [nearest] = poolsByDistance(findings);
  const [reason] = nearest?.reasons ?? [];
  return nearest && reason && describeReason(reason, { kind: "pool", name: nearest.pool });
}
