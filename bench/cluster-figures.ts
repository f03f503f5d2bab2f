import type { NodeClaim } from "../src/api/kinds/node-claim.ts";
import type { Pod } from "../src/api/kubernetes/pod.ts";
import { labels } from "../src/api/labels.ts";
import type { KubeObject } from "../src/api/object.ts";
import type { KubeClient } from "../src/kube/client.ts";
import { builtInTypes, karpenterTypes, resourceTypeOf } from "../src/kube/resources.ts";
import { kwokInstanceTypes } from "../src/providers/kwok/catalogue.ts";
import { mixedObjects } from "./mixed-pods.ts";

export function createMixedObjects(client: KubeClient): Promise<void> {
  return createObjects(client, mixedObjects as readonly KubeObject[]);
}

export async function createObjects(client: KubeClient, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const type = resourceTypeOf(object);
    if (type !== undefined) await client.create(type, object);
  }
}

export async function runningPods(client: KubeClient): Promise<number> {
  const { items } = await client.list<KubeObject & Pod>(builtInTypes.Pod);
  return items.filter(({ status }) => status?.phase === "Running").length;
}

/** Whether all of them run; asks for one that does not first, as a list of a thousand pods costs the server dearly. */
export async function areAllRunning(client: KubeClient, count: number): Promise<boolean> {
  const others = await client.list(builtInTypes.Pod, { fieldSelector: "status.phase!=Running", limit: 1 });
  return others.items.length === 0 && (await runningPods(client)) === count;
}

/** What there is by now, and what it costs an hour. */
export async function nodesAndPrice(client: KubeClient): Promise<{ readonly nodes: number; readonly price: number }> {
  const { items } = await client.list<KubeObject & NodeClaim>(karpenterTypes.NodeClaim);
  return { nodes: items.length, price: items.reduce((sum, { metadata }) => sum + priceOf(metadata.labels ?? {}), 0) };
}

const catalogue = new Map(kwokInstanceTypes().map((type) => [type.name, type]));

function priceOf(told: Readonly<Record<string, string>>): number {
  const type = catalogue.get(told[labels.instanceType] ?? "");
  const offering = type?.offerings.find(
    ({ requirements }) =>
      requirements.get(labels.zone).singleValue === told[labels.zone] &&
      requirements.get(labels.capacityType).singleValue === told[labels.capacityType],
  );
  return offering?.price ?? Number.NaN;
}
