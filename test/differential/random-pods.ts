import type { Draw } from "./draw.ts";
import { apps, keys, namespaces } from "./names.ts";
import type { PlainObject } from "./problem.ts";
import type { RandomCatalogue } from "./random-catalogue.ts";
import { keyAndValues, randomPodRequirement } from "./random-requirements.ts";

/** Deployments and single pods that wait for a node. */
export function randomWorkloads(draw: Draw, catalogue: RandomCatalogue): readonly PlainObject[] {
  return draw.times(draw.pick([1, 1, 2, 2, 3, 4]), (index) => {
    const template = randomTemplate(draw, catalogue);
    const { namespace, labels, spec } = template;
    if (draw.chance(0.6)) {
      return {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: `w${index}`, ...namespace },
        spec: {
          replicas: draw.pick([1, 2, 2, 3, 3, 4, 6]),
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec },
        },
      };
    }
    return {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `w${index}`, ...namespace, labels, ...draw.maybe(0.02, () => deleted) },
      spec: { ...spec, ...draw.maybe(0.02, () => ({ schedulingGates: [{ name: "example.com/wait" }] })) },
    };
  });
}

export const deleted = { deletionTimestamp: "2026-01-15T11:59:50Z" };

export function randomTemplate(draw: Draw, catalogue: RandomCatalogue) {
  const app = draw.pick(apps);
  const labels = { app, ...draw.maybe(0.2, () => ({ version: draw.pick(["1", "2"]) })) };
  // Few features at a time, so that most pods find a place.
  const features = new Set(draw.some(podFeatures, 0, 3));
  const has = <T extends object>(feature: (typeof podFeatures)[number], make: () => T): T | Record<string, never> =>
    features.has(feature) ? make() : {};
  const affinity = {
    ...has("node-affinity", () => ({ nodeAffinity: randomNodeAffinity(draw, catalogue) })),
    ...has("pod-affinity", () => ({ podAffinity: randomPodAffinity(draw, app) })),
    ...has("anti-affinity", () => ({ podAntiAffinity: randomPodAffinity(draw, app) })),
  };
  return {
    namespace: draw.chance(0.15) ? { namespace: "other" } : {},
    labels,
    spec: {
      containers: [randomContainer(draw), ...draw.times(draw.pick([0, 0, 0, 1]), () => randomContainer(draw, "side"))],
      ...has("init", () => ({ initContainers: [randomInitContainer(draw)] })),
      ...has("overhead", () => ({ overhead: { cpu: "250m" } })),
      ...has("node-selector", () => ({ nodeSelector: randomNodeSelector(draw, catalogue) })),
      ...(Object.keys(affinity).length > 0 && { affinity }),
      ...has("spread", () => ({
        topologySpreadConstraints: draw.times(draw.pick([1, 1, 2, 3]), () => randomSpread(draw, app)),
      })),
      ...has("tolerations", () => ({ tolerations: draw.times(draw.count(1, 2), () => randomToleration(draw)) })),
      ...has("volumes", () => ({
        volumes: draw
          .some(claimNames, 1, 2)
          .map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
      })),
      ...has("priority", () => ({ priorityClassName: "system-cluster-critical" })),
      ...has("host-port", () => ({})),
    },
  };
}

const podFeatures = [
  "node-affinity",
  "node-affinity",
  "pod-affinity",
  "pod-affinity",
  "anti-affinity",
  "anti-affinity",
  "spread",
  "spread",
  "spread",
  "node-selector",
  "node-selector",
  "tolerations",
  "tolerations",
  "volumes",
  "init",
  "overhead",
  "priority",
  "host-port",
] as const;

/** Volumes that `random-volumes.ts` makes, and one that does not exist. */
const claimNames = ["v0", "v1", "v2", "missing"] as const;

function randomContainer(draw: Draw, name = "app") {
  const requests = {
    ...draw.maybe(0.9, () => ({ cpu: draw.pick(["100m", "500m", "1", "1", "2", "3500m", "9"]) })),
    ...draw.maybe(0.4, () => ({ memory: draw.pick(["128Mi", "1Gi", "3Gi", "20Gi"]) })),
    ...draw.maybe(0.08, () => ({ [keys.gpu]: draw.pick(["1", "0"]) })),
    ...draw.maybe(0.04, () => ({ "ephemeral-storage": "1Gi" })),
    ...draw.maybe(0.02, () => ({ "example.com/license": "1" })),
  };
  return {
    name,
    image: "app",
    ...draw.maybe(0.06, () => ({ ports: [randomPort(draw)] })),
    resources: draw.chance(0.08) ? { limits: requests } : { requests },
  };
}

function randomPort(draw: Draw) {
  const hostPort = draw.pick([80, 443]);
  return {
    containerPort: hostPort,
    hostPort,
    ...draw.maybe(0.2, () => ({ hostIP: draw.pick(["10.0.0.1", "10.0.0.2"]) })),
    ...draw.maybe(0.2, () => ({ protocol: "UDP" })),
  };
}

function randomInitContainer(draw: Draw) {
  return { ...randomContainer(draw, "init"), ...draw.maybe(0.4, () => ({ restartPolicy: "Always" })) };
}

export function randomNodeSelector(draw: Draw, catalogue: RandomCatalogue): Readonly<Record<string, string>> {
  const pairs = draw.times(draw.pick([1, 1, 2]), () => keyAndValues(draw, catalogue));
  return Object.fromEntries(pairs.map(([key, values]) => [key, draw.pick(values)]));
}

export function randomNodeAffinity(draw: Draw, catalogue: RandomCatalogue) {
  const term = () => ({
    matchExpressions: draw.times(draw.pick([1, 1, 2]), () => randomPodRequirement(draw, catalogue)),
  });
  return {
    ...draw.maybe(0.7, () => ({
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: draw.times(draw.pick([1, 1, 2]), term) },
    })),
    ...draw.maybe(0.4, () => ({
      preferredDuringSchedulingIgnoredDuringExecution: draw.times(draw.pick([1, 1, 2]), () => ({
        weight: draw.pick([1, 5, 10]),
        preference: term(),
      })),
    })),
  };
}

const topologyKeys = [
  keys.zone,
  keys.zone,
  keys.zone,
  keys.hostname,
  keys.hostname,
  keys.capacityType,
  keys.team,
  keys.arch,
  keys.rack,
] as const;

function randomSelector(draw: Draw, app: string): object {
  return draw.pick<object>([
    { matchLabels: { app } },
    { matchLabels: { app } },
    { matchLabels: { app } },
    { matchLabels: { app: draw.pick(apps) } },
    {},
    { matchExpressions: [{ key: "app", operator: draw.pick(["In", "NotIn"]), values: draw.some(apps, 1, 2) }] },
    { matchExpressions: [{ key: "version", operator: draw.pick(["Exists", "DoesNotExist"]) }] },
  ]);
}

export function randomTerm(draw: Draw, app: string) {
  return {
    topologyKey: draw.pick(topologyKeys),
    labelSelector: randomSelector(draw, app),
    ...draw.maybe(0.1, () => ({ namespaces: draw.some(namespaces, 1, 2) })),
    ...draw.maybe(0.06, () => ({ namespaceSelector: draw.pick([{}, { matchLabels: { kind: "other" } }]) })),
  };
}

function randomPodAffinity(draw: Draw, app: string) {
  const isRequired = draw.chance(0.6);
  return {
    ...(isRequired && {
      requiredDuringSchedulingIgnoredDuringExecution: draw.times(draw.pick([1, 1, 2]), () => randomTerm(draw, app)),
    }),
    ...draw.maybe(isRequired ? 0.2 : 1, () => ({
      preferredDuringSchedulingIgnoredDuringExecution: draw.times(draw.pick([1, 1, 2]), () => ({
        weight: draw.pick([1, 5, 10]),
        podAffinityTerm: randomTerm(draw, app),
      })),
    })),
  };
}

function randomSpread(draw: Draw, app: string) {
  const whenUnsatisfiable = draw.pick(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]);
  return {
    maxSkew: draw.pick([1, 1, 1, 2]),
    topologyKey: draw.pick(topologyKeys),
    whenUnsatisfiable,
    labelSelector: randomSelector(draw, app),
    ...draw.maybe(whenUnsatisfiable === "DoNotSchedule" ? 0.15 : 0, () => ({ minDomains: draw.pick([1, 2, 4]) })),
    ...draw.maybe(0.12, () => ({ nodeAffinityPolicy: draw.pick(["Ignore", "Honor"]) })),
    ...draw.maybe(0.2, () => ({ nodeTaintsPolicy: draw.pick(["Honor", "Honor", "Ignore"]) })),
    ...draw.maybe(0.06, () => ({ matchLabelKeys: [draw.pick(["version", "app"])] })),
  };
}

export function randomToleration(draw: Draw): object {
  return draw.pick<object>([
    { operator: "Exists" },
    { key: "dedicated", operator: "Exists" },
    { key: "dedicated", operator: "Equal", value: "gpu", effect: "NoSchedule" },
    { key: "soft", operator: "Exists" },
    { key: "example.com/boot", operator: "Exists" },
  ]);
}
