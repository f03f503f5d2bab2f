import type { KubeObject } from "../../src/api/object.ts";
import { InstanceList } from "../../src/cloud/instance-source.ts";
import { ApiServer } from "../../src/control-plane/api/server.ts";
import { InProcessClient } from "../../src/control-plane/in-process-client.ts";
import { installCrds } from "../../src/control-plane/install-crds.ts";
import { startSimulatedCluster } from "../../src/control-plane/simulated-cluster.ts";
import type { Settings } from "../../src/controllers/settings.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";
import { Random } from "../../src/util/random.ts";
import { VirtualClock } from "../../src/util/virtual-clock.ts";
import type { LogLine } from "../world/recording-log.ts";
import { stepBudget } from "../world/step-budget.ts";
import { controllerProcesses, type InstanceKind, type StoryStart } from "./controller-processes.ts";
import type { Story, StoryCluster } from "./story.ts";
import { storyCluster } from "./story-cluster.ts";

const startAt = Date.parse("2026-01-01T00:00:00Z");
/** Between two looks of a story at its cluster. */
const pollMs = 500;

export interface EmbeddedClusterOptions extends Pick<Story, "volumes"> {
  readonly settings?: Partial<Settings> | undefined;
  readonly seed?: string | undefined;
  readonly instanceKind?: InstanceKind | undefined;
  /** What is there before our controller comes. */
  readonly before?: ((client: KubeClient, scene: StoryStart) => Promise<void>) | undefined;
}

/** A whole cluster in this process on the virtual clock: the same seed tells the same story. */
export async function embeddedCluster(
  options: EmbeddedClusterOptions = {},
): Promise<StoryCluster & { close(): Promise<void> }> {
  const clock = new VirtualClock({ startAt });
  const random = new Random(options.seed ?? "story");
  const api = new ApiServer({ clock, random: random.fork("api") });
  const client = new InProcessClient(api);
  await installCrds(api, "all");
  await client.create(namespaceType, namespaceObject("karpenter"));
  await client.create(namespaceType, namespaceObject("story"));
  const cloud = new SimulatedCloud({ clock, random: random.fork("cloud") });
  const instances = options.instanceKind === "nodes" ? new InstanceList() : cloud;
  const { volumes } = options;
  const world = startSimulatedCluster({ api, clock, random: random.fork("world"), instances, settings: { volumes } });
  await options.before?.(client, { now: clock.now(), namespace: "story" });
  const lines: LogLine[] = [];
  const advance = (ms: number) => clock.advance(ms).then(() => {});
  const lives = controllerProcesses({
    ...options,
    client,
    cloud,
    clock,
    random,
    lines,
    advance,
    openBudget: stepBudget(),
  });
  await advance(5_000);
  const cluster = storyCluster({ ...lives, client, cloud, namespace: "story", clock, lines, advance, pollMs });
  return {
    ...cluster,
    close: async () => {
      const ended = Promise.all([lives.stop(), world.stop()]);
      await clock.advance(60_000);
      await ended;
    },
  };
}

const namespaceType = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false } as const;

function namespaceObject(name: string): KubeObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}
