import { groups } from "../src/api/labels.ts";
import { completeObjects } from "../src/core/scenario/complete-objects.ts";
import { expandWorkloads } from "../src/core/scenario/expand-workloads.ts";
import {
  defaultSchedulingPolicy,
  type SchedulingPolicy,
  type SchedulingProblem,
} from "../src/core/scheduling/problem.ts";
import { scenarioOf } from "../src/state/scenario.ts";
import type { Workload } from "./workloads.ts";

const nodeClass = { group: groups.kwok, kind: "KWOKNodeClass" };
const nowMs = Date.parse("2026-01-15T12:00:00Z");

/** From parsed objects to a problem, as `plan` does it. */
export function problemFor(workload: Workload, policy: Partial<SchedulingPolicy> = {}): SchedulingProblem {
  const { types, labelPolicy } = workload.onSale;
  const { objects, workloads } = expandWorkloads(workload.objects);
  const completed = completeObjects(
    objects.map(({ object }) => object),
    { typesFor: () => types, nowMs, defaultNodeClass: { ...nodeClass, name: "default" } },
  );
  return scenarioOf(completed, {
    typesFor: () => types,
    served: [nodeClass],
    labelPolicy,
    policy: { ...defaultSchedulingPolicy, ...policy },
    seed: 1,
    nowMs,
    workloads,
  }).problem;
}
