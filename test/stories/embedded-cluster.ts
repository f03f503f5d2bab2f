import { InstanceList } from "../../src/cloud/instance-source.ts";
import type { Settings } from "../../src/controllers/settings.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import type { LogLine } from "../world/recording-log.ts";
import { type TestWorldOptions, testWorld } from "../world/test-world.ts";
import { controllerProcesses, type InstanceKind, type StoryStart } from "./controller-processes.ts";
import type { Story, StoryCluster } from "./story.ts";
import { storyCluster } from "./story-cluster.ts";

/** How often a story looks whether what it waits for is there. */
const pollMs = 500;

export interface EmbeddedClusterOptions extends Pick<Story, "volumes">, Pick<TestWorldOptions, "seed"> {
  readonly settings?: Partial<Settings> | undefined;
  readonly instanceKind?: InstanceKind | undefined;
  /** Prepares the cluster before our controller starts. */
  readonly before?: ((client: KubeClient, start: StoryStart) => Promise<void>) | undefined;
}

/** A whole cluster in this process, on the virtual clock: a story runs the same way for the same seed. */
export async function embeddedCluster(
  options: EmbeddedClusterOptions = {},
): Promise<StoryCluster & { close(): Promise<void> }> {
  const namespace = "story";
  const world = await testWorld({ seed: options.seed ?? "story", namespaces: ["karpenter", namespace] });
  const { client, cloud, clock, random } = world;
  const { volumes } = options;
  const instances = options.instanceKind === "nodes" ? new InstanceList() : cloud;
  world.startCluster({ instances, settings: { volumes } });
  await options.before?.(client, { now: clock.now(), namespace });
  const lines: LogLine[] = [];
  const advance = (ms: number) => world.pass(ms / 1_000);
  const processes = world.track(controllerProcesses({ ...options, client, cloud, clock, random, lines, advance }));
  await advance(5_000);
  const cluster = storyCluster({ ...processes, client, cloud, namespace, clock, lines, advance, pollMs });
  return { ...cluster, close: world.stop };
}
