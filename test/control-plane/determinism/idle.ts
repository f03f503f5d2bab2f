import type { KubeObject } from "../../../src/api/object.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { World } from "./world.ts";

/** A day of a cluster in which nothing happens: its nodes are ready and stay so. */
export async function idleDay(nodes: number): Promise<{ readonly writesWhileIdle: number; readonly ready: number }> {
  const world = new World({ seed: "idle", nodes });
  world.start();
  await world.pass(300);
  const before = world.api.revision;
  await world.pass(24 * 3_600);
  const writesWhileIdle = world.api.revision - before;
  const { items } = await world.client.list<NodeWithStatus>(builtInTypes.Node);
  await world.stop();
  const isReady = ({ status }: NodeWithStatus) =>
    status.conditions.some((condition) => condition.type === "Ready" && condition.status === "True");
  return { writesWhileIdle, ready: items.filter(isReady).length };
}

type NodeWithStatus = KubeObject & {
  readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
};
