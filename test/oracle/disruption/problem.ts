import { Draw } from "../../differential/draw.ts";
import type { DisruptionProblem, PlainObject } from "../../differential/problem.ts";
import { randomDaemonSets } from "../../differential/random-nodes.ts";
import { randomWorkloads } from "../../differential/random-pods.ts";
import { randomOverlays } from "../../differential/random-pools.ts";
import { randomVolumes } from "../../differential/random-volumes.ts";
import { nodeCatalogue } from "./catalogue.ts";
import { disruptedNodes } from "./nodes.ts";
import { daemonPods, localVolumes, randomPdbs, runningPods } from "./pods.ts";
import { disruptedPools } from "./pools.ts";

/** What a cluster has that most have not. A few at a time, so that something is left to be disrupted. */
const features = [
  "balanced",
  "budgets",
  "constraints",
  "constraints",
  "constraints",
  "costs",
  "daemons",
  "drift",
  "drift",
  "grace-period",
  "hashes",
  "labels",
  "large",
  "large",
  "limits",
  "min-values",
  "nominated",
  "odd-labels",
  "odd-pools",
  "overlays",
  "owners",
  "pdbs",
  "pdbs",
  "pending",
  "pinned",
  "protection",
  "requirements",
  "spot",
  "states",
  "states",
  "static",
  "static",
  "taints",
  "times",
  "volumes",
  "volumes",
] as const;

/** Whether the cluster has a feature. */
export type Has = (feature: (typeof features)[number]) => boolean;

/** A cluster with nodes that may be disrupted. The same seed gives the same problem. */
export function randomDisruption(seed: number): DisruptionProblem {
  const draw = new Draw(seed);
  const drawn: ReadonlySet<string> = new Set(draw.some(features, 1, draw.pick([3, 6, 12])));
  const has: Has = (feature) => drawn.has(feature);
  const now = draw.chance(has("times") || has("budgets") ? 0.5 : 0) ? draw.pick(momentsAroundNoon) : noon;
  const catalogue = nodeCatalogue(draw);
  const pools = disruptedPools(draw, { catalogue, has });
  const nodes = disruptedNodes(draw, { catalogue, pools, has, now });
  const pods = [
    ...runningPods(draw, { catalogue, nodes, has, now }),
    ...(has("pending") ? randomWorkloads(draw, catalogue) : []),
  ];
  const daemonSets = has("daemons") ? randomDaemonSets(draw, catalogue) : [];
  const usesVolumes = JSON.stringify(pods).includes("persistentVolumeClaim");
  const nominated = has("nominated") ? draw.some(nodes, 1, 2).map(({ name }) => name) : [];
  return {
    command: "disrupt",
    seed,
    now,
    ...draw.maybe(has("spot") ? 0.8 : 0.2, () => ({ spotToSpot: true as const })),
    ...draw.maybe(has("constraints") ? 0.15 : 0, () => ({ preferences: "Ignore" as const })),
    ...draw.maybe(has("min-values") ? 0.25 : 0, () => ({ minValues: "BestEffort" as const })),
    ...(nominated.length > 0 && { nominated: nominated.join(",") }),
    catalogue: catalogue.catalogue,
    objects: [
      otherNamespace,
      ...pools.map(({ object }) => object),
      ...(has("overlays") ? randomOverlays(draw, catalogue) : []),
      ...daemonSets,
      ...(usesVolumes
        ? [...randomVolumes(draw, catalogue).map((one) => asBound(draw, one)), ...localVolumes(draw)]
        : []),
      ...nodes.flatMap(({ objects }) => objects),
      ...pods,
      ...daemonPods(draw, daemonSets, nodes),
      ...(has("pdbs") ? randomPdbs(draw) : []),
    ],
  };
}

/** Claims that name a volume are mostly bound to it. */
function asBound(draw: Draw, object: PlainObject): PlainObject {
  const { volumeName } = (object["spec"] ?? {}) as { readonly volumeName?: string };
  if (object.kind !== "PersistentVolumeClaim" || volumeName === undefined || draw.chance(0.1)) return object;
  return { ...object, metadata: { ...object.metadata, annotations: { "pv.kubernetes.io/bind-completed": "yes" } } };
}

const noon = "2026-01-15T12:00:00Z";
const momentsAroundNoon = [
  "2026-01-15T11:59:50Z",
  "2026-01-15T11:59:45Z",
  "2026-01-15T12:00:01Z",
  "2026-01-15T11:45:00Z",
];

const otherNamespace: PlainObject = {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: "other", labels: { kind: "other" } },
};
