import { isInternalFailure } from "../../src/control-plane/simulated-cluster.ts";
import { defaultGates, defaultSettings } from "../../src/controllers/settings.ts";
import type { ControllerFailure } from "../../src/kube/controller.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { promMetrics } from "../../src/operator/metrics/prom-metrics.ts";
import { kwokInstanceTypes } from "../../src/providers/kwok/catalogue.ts";
import { VirtualClock } from "../../src/util/virtual-clock.ts";
import { startAt } from "../world/api-world.ts";
import { testWorld } from "../world/test-world.ts";
import { GoneObjects } from "./gone-objects.ts";
import { createLastingObjects, performHour, type SoakContext } from "./soak-day.ts";

const hourMs = 60 * 60_000;

/** The types its pools allow and a few more; a pass over all of them would only take longer. */
const kwokTypes = kwokInstanceTypes().filter(({ name }) => /-[248]x-amd64-linux$/.test(name));

const settings = {
  ...defaultSettings,
  gates: {
    ...defaultGates,
    NodeRepair: true,
    NodeOverlay: true,
    StaticCapacity: true,
    CapacityBuffer: true,
    SpotToSpotConsolidation: true,
  },
};

export interface SoakOptions {
  readonly seed: string;
  readonly services: number;
  /** Where the list of deleted objects is kept. */
  readonly gonePath: string;
}

/** A cluster that people use day after day. */
export async function soakWorld({ seed, services, gonePath }: SoakOptions) {
  const clock = new VirtualClock({ startAt });
  const gone = new GoneObjects({ path: gonePath, now: () => clock.now() });
  // A short history of changes, so that it is full on the first day.
  const world = await testWorld({
    ...{ seed, clock, journal: gone, watchWindow: 200, keepsCloudCalls: false },
    provider: { kwokTypes },
  });
  const failures: string[] = [];
  const onFailure = (failure: ControllerFailure) => {
    if (isInternalFailure(failure)) failures.push(`${failure.controller}: ${String(failure.error)}`);
  };
  world.startCluster({ onFailure });
  const { metrics, registry } = promMetrics();
  world.startOperator("soak", { settings, metrics });
  const { client, cloud } = world;
  const context: SoakContext = { client, cloud, random: world.random.fork("people"), services };
  await world.pass(5);
  await createLastingObjects(context);
  const count = async (type: typeof builtInTypes.Node) => (await client.list(type)).items.length;
  return {
    clock,
    client,
    cloud,
    gone,
    failures,
    /** From midnight to midnight. Metrics are read every hour, as Prometheus would. */
    day: async (day: number, onHour: (hour: number) => unknown = () => {}) => {
      for (let hour = 0; hour < 24; hour++) {
        await performHour(context, { day, hour });
        await clock.advance(hourMs);
        await registry.metrics();
        await onHour(hour);
      }
    },
    counts: async () => ({
      nodes: await count(builtInTypes.Node),
      claims: await count(karpenterTypes.NodeClaim),
      pods: await count(builtInTypes.Pod),
      events: await count(builtInTypes.Event),
      instances: cloud.records().length,
      timers: clock.pending,
      series: (await registry.metrics()).split("\n").length,
    }),
    stop: async () => {
      await world.stop();
      gone.close();
    },
  };
}
export type SoakWorld = Awaited<ReturnType<typeof soakWorld>>;
