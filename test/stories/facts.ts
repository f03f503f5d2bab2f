import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import type { NodePool } from "../../src/api/kinds/node-pool.ts";
import type { Node } from "../../src/api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../src/api/kubernetes/pod.ts";
import { labels } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import type { ResourceType } from "../../src/kube/client.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import type { StoryCluster } from "./story.ts";

export type LivePod = Pod & KubeObject;
export type LiveNode = Node & KubeObject;
export type LiveClaim = NodeClaim & KubeObject;
export type LivePool = NodePool & KubeObject;

/** Pods of an app that are not on their way out. */
export async function podsOf(cluster: StoryCluster, app: string): Promise<readonly LivePod[]> {
  const pods = await cluster.list<LivePod>(builtInTypes.Pod);
  return pods.filter((pod) => pod.metadata.labels?.["app"] === app && !isLeaving(pod));
}

export const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? "";

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

type Conditioned = Pick<KubeObject, "status">;

export function conditionOf({ status }: Conditioned, type: string): Condition | undefined {
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Condition[] };
  return conditions.find((condition) => condition.type === type);
}

export const isTrue = (object: Conditioned, type: string): boolean => conditionOf(object, type)?.status === "True";
export const isReady = (object: Conditioned): boolean => isTrue(object, "Ready");

/** So many pods of an app run and are ready, and no others are there. */
export function running(cluster: StoryCluster, app: string, count: number) {
  return async (): Promise<boolean> => {
    const pods = await podsOf(cluster, app);
    return pods.length === count && pods.every(isReady);
  };
}

/** Nodes that karpenter made. */
export async function nodesOf(cluster: StoryCluster, pool?: string): Promise<readonly LiveNode[]> {
  const nodes = await cluster.list<LiveNode>(builtInTypes.Node);
  return nodes.filter(({ metadata }) => {
    const of = metadata.labels?.[labels.nodePool];
    return of !== undefined && (pool === undefined || of === pool);
  });
}

export async function claimsOf(cluster: StoryCluster, pool?: string): Promise<readonly LiveClaim[]> {
  const claims = await cluster.list<LiveClaim>(karpenterTypes.NodeClaim);
  return claims.filter(({ metadata }) => pool === undefined || metadata.labels?.[labels.nodePool] === pool);
}

/** The only one there is. */
function only<T>(things: readonly T[]): T {
  const [one] = things;
  if (one === undefined || things.length > 1) throw new Error(`expected one, not ${things.length}`);
  return one;
}

export const theClaim = async (cluster: StoryCluster, pool?: string): Promise<LiveClaim> =>
  only(await claimsOf(cluster, pool));
export const theNode = async (cluster: StoryCluster, pool?: string): Promise<LiveNode> =>
  only(await nodesOf(cluster, pool));

/** Labels of the nodes an app's pods run on, one for each pod, sorted. */
export async function whereRuns(
  cluster: StoryCluster,
  app: string,
  label: string,
): Promise<readonly (string | undefined)[]> {
  const nodes = new Map((await cluster.list<LiveNode>(builtInTypes.Node)).map((node) => [node.metadata.name, node]));
  const pods = await podsOf(cluster, app);
  return pods.map(({ spec }) => nodes.get(spec.nodeName)?.metadata.labels?.[label]).sort();
}

/** No claims, no nodes of ours, no machines: everything was given back. */
export function nothingLeft(cluster: StoryCluster) {
  return async (): Promise<boolean> =>
    (await claimsOf(cluster)).length === 0 &&
    (await nodesOf(cluster)).length === 0 &&
    cluster.cloud.list().length === 0;
}

/** Nothing is left of a claim, its node and its machine. */
export function givenBack(cluster: StoryCluster, { metadata, status }: LiveClaim) {
  return async (): Promise<boolean> =>
    (await gone(cluster, karpenterTypes.NodeClaim, metadata.name ?? "")()) &&
    (await gone(cluster, builtInTypes.Node, status?.nodeName ?? "")()) &&
    cluster.cloud.list().every(({ providerId }) => providerId !== status?.providerID);
}

/** Every claim is usable, has its node and its machine, and none of these is without the others. */
export function settled(cluster: StoryCluster, count?: number) {
  return async (): Promise<boolean> => {
    const claims = await claimsOf(cluster);
    const nodes = await nodesOf(cluster);
    const isWhole = claims.every((claim) => isReady(claim) && !isLeaving(claim));
    const sizes = new Set([claims.length, nodes.length, cluster.cloud.list().length, count ?? claims.length]);
    return isWhole && sizes.size === 1;
  };
}

/** An object of this name is not there any more. */
export function gone(cluster: StoryCluster, type: ResourceType, name: string) {
  return async (): Promise<boolean> => (await cluster.get(type, name)) === undefined;
}

/** A condition of an object says this, with this reason if one is given. */
export function says(
  cluster: StoryCluster,
  { type, name, condition, is = "True", reason }: Saying,
): () => Promise<boolean> {
  return async () => {
    const found = conditionOf((await cluster.get(type, name)) ?? {}, condition);
    return found?.status === is && (reason === undefined || found.reason === reason);
  };
}

interface Saying {
  readonly type: ResourceType;
  readonly name: string;
  readonly condition: string;
  readonly is?: "True" | "False" | "Unknown";
  readonly reason?: string;
}

/** An event with this reason was told about an object, and its words say this. */
export function told(cluster: StoryCluster, { about, reason, words = "" }: Telling) {
  return async (): Promise<boolean> =>
    (await cluster.events(about)).some((event) => event.reason === reason && event.message.includes(words));
}

interface Telling {
  readonly about: string;
  readonly reason: string;
  readonly words?: string;
}

/** How often controllers logged a message. */
export function logged(cluster: StoryCluster, message: string): number {
  return cluster.log().filter((line) => line.message === message).length;
}

/** Watches are late by up to three seconds: until then the controller believes what is no longer so. */
export const hearsaySeconds = 4;

/** Scales a deployment to nothing, and waits until the controller has heard of it. */
export async function scaleToNone(cluster: StoryCluster, app: string): Promise<void> {
  await cluster.scale(app, 0);
  await cluster.until("no pod is left", async () => (await cluster.list(builtInTypes.Pod)).length === 0);
  await cluster.pass(hearsaySeconds);
}

/** Its end has begun, and is not over. */
export const isLeaving = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;
