import { InstanceList } from "../../src/cloud/instance-source.ts";
import { defaultGates, type Settings } from "../../src/controllers/settings.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { Random } from "../../src/util/random.ts";
import { drawDeliveryDelays } from "../world/faults/delivery-delays.ts";
import { obligationsOf } from "../world/progress/obligations.ts";
import { Progress } from "../world/progress/progress.ts";
import type { LogLine } from "../world/recording-log.ts";
import { StoredObjects } from "../world/stored-objects.ts";
import { type TestWorldOptions, testWorld } from "../world/test-world.ts";
import {
  type ControllerProcessesOptions,
  controllerProcesses,
  type InstanceKind,
  type StoryStart,
} from "./controller-processes.ts";
import type { Story, StoryCluster } from "./story.ts";
import { storyCluster } from "./story-cluster.ts";

/** How often a story looks whether what it waits for is there. */
const pollMs = 500;

/** A leader that died is replaced when its lease has run out. (03 §6.5) */
const handoverMs = 20_000;
/** The server and its machines at their quickest: a Node is ready in the instant of its launch. */
const joinsAtOnce = { bootMs: [0, 0], readyMs: [0, 0] } as const;

export interface EmbeddedClusterOptions extends Pick<Story, "volumes">, Pick<TestWorldOptions, "seed"> {
  readonly settings?: Partial<Settings> | undefined;
  readonly instanceKind?: InstanceKind | undefined;
  readonly asController?: ControllerProcessesOptions["asController"];
  /** Prepares the cluster before our controller starts. */
  readonly before?: ((client: KubeClient, start: StoryStart) => Promise<void>) | undefined;
}

/** A whole cluster in this process, on the virtual clock: a story runs the same way for the same seed. */
export async function embeddedCluster(
  options: EmbeddedClusterOptions = {},
): Promise<StoryCluster & { close(): Promise<void> }> {
  const namespace = "story";
  const { seed = "story", volumes } = options;
  const delivery = new Random(seed).fork("delivery");
  const objects = new StoredObjects();
  const world = await testWorld({
    seed,
    namespaces: ["karpenter", namespace],
    journal: objects,
    ...(delivery.fork("boot").int(2) === 0 && { simulation: joinsAtOnce }),
  });
  const { client, cloud, clock, random } = world;
  const instances = options.instanceKind === "nodes" ? new InstanceList() : cloud;
  world.startCluster({ instances, settings: { volumes } });
  await options.before?.(client, { now: clock.now(), namespace });
  const lines: LogLine[] = [];
  const advance = (ms: number) => world.pass(ms / 1_000);
  const { nodeClasses, repairPolicies } = world.provider;
  const complaints: string[] = [];
  const gates = options.settings?.gates ?? defaultGates;
  const progress = new Progress({
    clock,
    owed: () => obligationsOf({ objects, cloud, nodeClasses, repairPolicies, gates, now: clock.now() }),
    complain: (what) => complaints.push(what),
  });
  const delays = drawDeliveryDelays(delivery.fork("delays"));
  const onHandover = () => progress.excuse(handoverMs);
  const shared = { client, cloud, clock, random, lines, advance };
  const processes = world.track(controllerProcesses({ ...options, ...shared, delays, onHandover }));
  objects.onChange(() => progress.onChange());
  await advance(5_000);
  const cluster = storyCluster({ ...processes, client, cloud, namespace, clock, lines, advance, pollMs });
  const close = async () => {
    progress.stop();
    await world.stop();
    if (complaints.length > 0) throw new Error(`seed ${JSON.stringify(seed)}: ${complaints.join("\n")}`);
  };
  return { ...cluster, close };
}
