import { resourceBound } from "../src/core/bound/resource-bound.ts";
import { podRequests, QuantityReader } from "../src/core/pod-requests.ts";
import { mergeResources } from "../src/core/resources.ts";
import type { Decision } from "../src/core/scheduling/decision.ts";
import type { Pass } from "../src/core/scheduling/pass-state.ts";
import type { SchedulingProblem } from "../src/core/scheduling/problem.ts";
import { solveInSteps } from "../src/core/scheduling/solve.ts";
import { problemFor } from "./prepare.ts";
import type { Workload } from "./workloads.ts";

/** One run over a workload. */
export interface Run {
  /** From parsed objects to a pass ready to be solved. */
  readonly buildMs: number;
  /** From there to the decision, polishing included. */
  readonly solveMs: number;
  /** The part of it that is polishing. */
  readonly polishMs: number;
  readonly nodes: number;
  readonly price: number;
  readonly unplaced: number;
}

export function run(workload: Workload, packing: "plain" | "polished" = "polished"): Run {
  const started = performance.now();
  const seen: { pass?: Pass; builtAt: number } = { builtAt: started };
  const steps = solveInSteps(problemFor(workload, { packing }), {
    onPassOpened: (pass) => {
      seen.pass = pass;
      seen.builtAt = performance.now();
    },
  });
  let [polishingAt, closingAt] = [0, 0];
  let step = steps.next();
  while (step.done !== true) {
    const phase = seen.pass?.phase;
    if (phase === "polishing") polishingAt ||= performance.now();
    if (phase === "closing") closingAt ||= performance.now();
    step = steps.next();
  }
  const endedAt = performance.now();
  const decision = step.value;
  return {
    buildMs: seen.builtAt - started,
    solveMs: endedAt - seen.builtAt,
    polishMs: polishingAt === 0 ? 0 : (closingAt || endedAt) - polishingAt,
    nodes: decision.newNodes.length,
    price: priceOf(decision),
    unplaced: decision.refusals.length,
  };
}

export function priceOf({ newNodes }: Decision): number {
  return newNodes.reduce((sum, { price }) => sum + price, 0);
}

/** Dollars a vCPU-hour and a GB-hour: what KWOK's prices are made of. */
const kwokPrices = { cpu: 0.025, gigabyte: 0.001 };

/** What the requests alone cost: by the unit for KWOK's types, elsewhere by the best value for money. */
export function requestsBound({ onSale }: Workload, problem: SchedulingProblem): number {
  const reader = new QuantityReader();
  const requests = mergeResources(...problem.pods.map((pod) => podRequests(pod, reader)));
  if (onSale.name !== "kwok") return resourceBound(requests, problem.pools, problem.labelPolicy);
  const cpu = requests["cpu"]?.toNumber() ?? 0;
  const gigabytes = (requests["memory"]?.toNumber() ?? 0) / 1e9;
  return kwokPrices.cpu * cpu + kwokPrices.gigabyte * gigabytes;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
