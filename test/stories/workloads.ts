import { simulationAnnotations } from "../../src/api/labels.ts";

/** What stories run, as a user would write it. */

export interface WorkloadOptions {
  readonly replicas?: number;
  readonly cpu?: string;
  readonly memory?: string;
  /** More of the pod's `spec`. */
  readonly pod?: object;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  /** More of the container. */
  readonly container?: object;
}

export function deployment(name: string, options: WorkloadOptions = {}) {
  const { replicas = 1 } = options;
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: { replicas, selector: { matchLabels: { app: name } }, template: podTemplate(name, options) },
  };
}

export function podTemplate(
  name: string,
  { cpu = "1", memory = "1Gi", pod = {}, annotations = {}, labels = {}, container = {} }: WorkloadOptions = {},
) {
  return {
    metadata: { labels: { app: name, ...labels }, annotations },
    spec: {
      terminationGracePeriodSeconds: 1,
      ...pod,
      containers: [{ name: "main", image: "app", resources: { requests: { cpu, memory } }, ...container }],
    },
  };
}

export function barePod(name: string, options: WorkloadOptions = {}) {
  const { metadata, spec } = podTemplate(name, options);
  return { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name }, spec };
}

export function budget(app: string, spec: object) {
  const selector = { matchLabels: { app } };
  return { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: app }, spec: { selector, ...spec } };
}

export function daemonSet(name: string, options: WorkloadOptions = {}) {
  const spec = { selector: { matchLabels: { app: name } }, template: podTemplate(name, options) };
  return { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name }, spec };
}

/** Its pods run for so many seconds and are done. */
export function job(
  name: string,
  { seconds, completions }: { readonly seconds: number; readonly completions: number },
) {
  const annotations = { [simulationAnnotations.runSeconds]: String(seconds) };
  const template = podTemplate(name, { pod: { restartPolicy: "Never" }, annotations });
  const spec = { completions, parallelism: completions, template };
  return { apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec };
}

/** One pod in each place of this kind, as far as that goes. */
export function spreadOver(app: string, topologyKey: string) {
  const labelSelector = { matchLabels: { app } };
  return {
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey, whenUnsatisfiable: "DoNotSchedule", labelSelector }],
  };
}

/** Never two of the app on one node. */
export function onePerNode(app: string) {
  const term = { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app } } };
  return { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
}

export const undisturbed = { "karpenter.sh/do-not-disrupt": "true" };
