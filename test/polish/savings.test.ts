import { expect, it } from "vitest";
import { solve } from "../../src/core/scheduling/solve.ts";
import { Random } from "../../src/util/random.ts";
import { instanceType } from "../builders/instance-type.ts";
import { type PodBuilder, pod } from "../builders/pod.ts";
import { type ProblemBuilder, problem } from "../builders/problem.ts";

/** Three families with 2, 4 and 8 GiB a cpu, in five sizes. */
const types = [2, 4, 8].flatMap((gib) =>
  [1, 2, 4, 8, 16].map((cpu) =>
    instanceType(`f${gib}.${cpu}`)
      .cpu(cpu)
      .memory(`${cpu * gib}Gi`)
      .price(cpu * (0.03 + 0.005 * gib)),
  ),
);

/** Workloads of all sizes; every second has a constraint. */
function mixedPods(seed: string): ProblemBuilder {
  const random = new Random(seed);
  const constrained: ((one: PodBuilder, app: string) => PodBuilder)[] = [
    (one) => one.on("capacity-type", "on-demand"),
    (one) => one.on("zone", "a"),
    (one) => one.spread("zone"),
    (one, app) => one.apart("host", { app }),
    (one) => one.spread("host", { maxSkew: 2 }),
  ];
  return Array.from({ length: 16 }, (_, at) => `app-${at}`).reduce(
    (asked, app) => {
      const cpu = random.pick(["100m", "250m", "500m", "900m", "1700m", "3"]);
      const memory = random.pick(["200Mi", "1Gi", "3Gi", "7Gi"]);
      const plain = pod().cpu(cpu).memory(memory).label("app", app);
      return asked.pods(1 + random.int(7), random.int(2) === 0 ? plain : random.pick(constrained)(plain, app));
    },
    problem().types(...types),
  );
}

function priceOf(asked: ProblemBuilder, packing: "plain" | "polished"): number {
  return solve(asked.policy({ packing }).build()).newNodes.reduce((sum, { price }) => sum + price, 0);
}

// A ratchet: what polishing saves may grow, and may not shrink unnoticed.
it.each([
  [1, 4.056, 3.544],
  [2, 2.576, 2.576],
  [3, 2.156, 1.793],
  [4, 1.092, 0.924],
  [5, 3.2, 2.038],
  [6, 3.168, 2.424],
  [7, 2.576, 2.464],
  [8, 4.648, 3.67],
  [9, 3.152, 2.122],
  [10, 3.444, 2.744],
  [11, 3.886, 2.594],
  [12, 4.608, 3.664],
])("saves on mixed workloads, seed %i, at least what it did: from %d to %d", (seed, plain, polished) => {
  const asked = mixedPods(String(seed));
  expect(priceOf(asked, "plain")).toBeCloseTo(plain, 6);
  expect(priceOf(asked, "polished")).toBeLessThanOrEqual(polished + 1e-6);
});
