import { Draw } from "./draw.ts";
import type { DifferentialProblem, PlainObject } from "./problem.ts";
import { randomCatalogue } from "./random-catalogue.ts";
import { randomDaemonSets, randomNodes } from "./random-nodes.ts";
import { randomWorkloads } from "./random-pods.ts";
import { randomOverlays, randomPools } from "./random-pools.ts";
import { randomVolumes } from "./random-volumes.ts";

/** A small cluster with constraints of every kind. The same seed gives the same problem. */
export function randomProblem(seed: number): DifferentialProblem {
  const draw = new Draw(seed);
  const catalogue = randomCatalogue(draw);
  const workloads = randomWorkloads(draw, catalogue);
  const nodes = randomNodes(draw, catalogue);
  const usesVolumes = JSON.stringify([workloads, nodes]).includes("persistentVolumeClaim");
  return {
    seed,
    ...draw.maybe(0.1, () => ({ preferences: "Ignore" as const })),
    ...draw.maybe(0.12, () => ({ minValues: "BestEffort" as const })),
    catalogue: catalogue.catalogue,
    objects: [
      otherNamespace,
      ...randomPools(draw, catalogue),
      ...(draw.chance(0.06) ? randomOverlays(draw, catalogue) : []),
      ...randomDaemonSets(draw, catalogue),
      ...(usesVolumes ? randomVolumes(draw, catalogue) : []),
      ...nodes,
      ...workloads,
    ],
  };
}

const otherNamespace: PlainObject = {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: "other", labels: { kind: "other" } },
};
