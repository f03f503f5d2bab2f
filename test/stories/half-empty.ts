import { taints } from "../../src/api/labels.ts";
import { type LiveNode, nameOf, nodesOf, podsOf, running, settled } from "./facts.ts";
import { isIn, kwokClass, type PoolOptions, pool } from "./manifests.ts";
import type { StoryCluster } from "./story.ts";
import { deployment } from "./workloads.ts";

/** Nodes go as soon as they can. */
export const eager = {
  consolidationPolicy: "WhenEmptyOrUnderutilized",
  consolidateAfter: "0s",
  budgets: [{ nodes: "100%" }],
};

/** Nothing goes of free will. */
export const stopped = { ...eager, budgets: [{ nodes: "0" }] };

export function eagerPool({ spec = {}, ...options }: PoolOptions = {}) {
  return pool({
    ...options,
    requirements: [isIn("karpenter.sh/capacity-type", "on-demand"), ...(options.requirements ?? [])],
    spec: { disruption: eager, ...spec },
  });
}

export const cpuIs = (...sizes: readonly string[]) => isIn("karpenter.kwok.sh/instance-cpu", ...sizes);

export interface HalfEmptyOptions extends PoolOptions {
  /** How many nodes, each with one small pod left. */
  readonly count?: number;
  /** Of the small pods. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Nothing may go yet. */
  readonly isStopped?: boolean;
}

/** Nodes of four cpus with a small pod of `web` each; what else was on them has gone. */
export async function halfEmpty(
  cluster: StoryCluster,
  { count = 2, annotations = {}, isStopped = false, spec = {}, ...options }: HalfEmptyOptions = {},
): Promise<void> {
  const own = isStopped ? { ...spec, disruption: stopped } : spec;
  const four = eagerPool({ ...options, requirements: [cpuIs("4")], spec: own });
  // Beside a large pod there is room for one small one.
  const web = deployment("web", { replicas: count, cpu: "1", annotations });
  await cluster.apply(kwokClass, four, web, deployment("large", { replicas: count, cpu: "2500m" }));
  await cluster.until("the small ones run", running(cluster, "web", count));
  await cluster.until("the large ones run", running(cluster, "large", count));
  await cluster.until("each on a node", settled(cluster, count));
  await cluster.scale("large", 0);
  await cluster.until("the large ones are gone", async () => (await podsOf(cluster, "large")).length === 0);
}

export function isTainted({ spec }: LiveNode): boolean {
  return spec?.taints?.some(({ key }) => key === taints.disrupted.key) ?? false;
}

/** None of these nodes is there any more. */
export function replaced(cluster: StoryCluster, old: readonly string[]) {
  return async (): Promise<boolean> => (await nodesOf(cluster)).every((node) => !old.includes(nameOf(node)));
}

/** Waits, and says how many nodes were on their way out at most. */
export async function mostAtOnce(
  cluster: StoryCluster,
  what: string,
  { probe, seconds }: { readonly probe: () => Promise<boolean>; readonly seconds: number },
): Promise<number> {
  let most = 0;
  const look = async (): Promise<boolean> => {
    const leaving = (await nodesOf(cluster)).filter((node) => node.metadata.deletionTimestamp || isTainted(node));
    most = Math.max(most, leaving.length);
    return probe();
  };
  await cluster.until(what, look, seconds);
  return most;
}
