import type { KubeObject } from "../../src/api/object.ts";
import type { CloudProvider } from "../../src/cloud/cloud-provider.ts";
import { ApiServer } from "../../src/control-plane/api/server.ts";
import { InProcessClient } from "../../src/control-plane/in-process-client.ts";
import { installCrds } from "../../src/control-plane/install-crds.ts";
import { startSimulatedCluster } from "../../src/control-plane/simulated-cluster.ts";
import type { ControllerDependencies } from "../../src/controllers/controller-dependencies.ts";
import type { Metrics } from "../../src/controllers/metrics/metrics.ts";
import { noMetrics } from "../../src/controllers/metrics/metrics.ts";
import { ProvisioningTrigger } from "../../src/controllers/provisioning/provisioning-trigger.ts";
import { defaultSettings, nominationMs, type Settings } from "../../src/controllers/settings.ts";
import type { KubeClient, ResourceType } from "../../src/kube/client.ts";
import { type Controller, type ControllerFailure, startControllers } from "../../src/kube/controller.ts";
import { isKubeError } from "../../src/kube/kube-error.ts";
import { resourceTypeOf } from "../../src/kube/resources.ts";
import { SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";
import { simulatedProvider } from "../../src/providers/sim/simulated-provider.ts";
import { BufferPods } from "../../src/state/buffer-pods.ts";
import { ClusterState } from "../../src/state/cluster-state.ts";
import { clusterStateController } from "../../src/state/cluster-state-controller.ts";
import { RegistrationHealth } from "../../src/state/registration-health.ts";
import { viewProjections } from "../../src/state/view-projections.ts";
import { Random } from "../../src/util/random.ts";
import { VirtualClock } from "../../src/util/virtual-clock.ts";
import { type LogLine, recordingLog } from "../world/recording-log.ts";
import { stepBudget } from "../world/step-budget.ts";

/** When every story begins. */
export const startAt = Date.parse("2026-01-01T00:00:00Z");

export interface ControllerWorldOptions {
  /** The controllers under test; state is always fed. */
  readonly controllers: (parts: ControllerDependencies) => readonly Controller[];
  readonly settings?: Partial<Settings> | undefined;
  readonly seed?: string | undefined;
  /** Whether pods get scheduled, kubelets run and so on; only the API server, unless asked for. */
  readonly runsCluster?: boolean | undefined;
  readonly metrics?: Metrics | undefined;
  /** Stands before the provider: to add policies, hooks, faults. */
  readonly wrapProvider?: ((provider: CloudProvider) => CloudProvider) | undefined;
  /** Stands between the controllers and the server: to come in between, to lose answers. */
  readonly wrapClient?: ((client: KubeClient) => KubeClient) | undefined;
}

/** Controllers on the virtual clock, an API server without sockets and a simulated cloud. */
export async function controllerWorld(options: ControllerWorldOptions) {
  const clock = new VirtualClock({ startAt });
  const random = new Random(options.seed ?? "rig");
  const api = new ApiServer({ clock, random: random.fork("api") });
  const client: KubeClient = new InProcessClient(api);
  await installCrds(api, "all");
  const simulated = new SimulatedCloud({ clock, random: random.fork("cloud") });
  const provider = simulatedProvider({ cloud: simulated, client, clock, random: random.fork("provider") });
  const cloud = options.wrapProvider?.(provider) ?? provider;
  const settings = { ...defaultSettings, ...options.settings };
  const cluster = new ClusterState({
    clock,
    servedNodeClasses: cloud.nodeClasses,
    nominationMs: nominationMs(settings),
  });
  const lines: LogLine[] = [];
  const troubles: ControllerFailure[] = [];
  const parts: ControllerDependencies = {
    cluster,
    cloud,
    registrationHealth: new RegistrationHealth(),
    bufferPods: new BufferPods(),
    trigger: new ProvisioningTrigger(),
    settings,
    openBudget: stepBudget(),
    metrics: options.metrics ?? noMetrics,
  };
  const log = recordingLog(lines);
  const world = options.runsCluster
    ? startSimulatedCluster({ api, clock, random: random.fork("world"), instances: simulated })
    : undefined;
  const begin = () =>
    startControllers({
      client: options.wrapClient?.(client) ?? client,
      clock,
      random: random.fork("controllers"),
      controllers: [clusterStateController(cluster), ...options.controllers(parts)],
      projections: viewProjections(),
      eventSource: { component: "karpenter", limits: { Nominated: { perSecond: 5, burst: 10 } } },
      log,
      onFailure: (trouble) => troubles.push(trouble),
    });
  let loops = begin();
  await clock.advance(0);
  return {
    api,
    client,
    clock,
    random,
    simulated,
    cloud,
    cluster,
    parts,
    lines,
    log,
    troubles,
    /** Creates, and lets the news arrive. */
    create: async <T extends KubeObject>(...objects: readonly object[]): Promise<T> => {
      let last: KubeObject | undefined;
      for (const object of objects as readonly KubeObject[]) last = await client.create(typeFor(object), object);
      await clock.advance(0);
      return last as T;
    },
    get: <T extends KubeObject>(type: ResourceType, name: string, namespace?: string): Promise<T | undefined> =>
      client.get<T>(type, { name, namespace }).catch((error: unknown) => {
        if (isKubeError(error, "not-found")) return undefined;
        throw error;
      }),
    list: async <T extends KubeObject>(type: ResourceType): Promise<readonly T[]> => (await client.list<T>(type)).items,
    /** Writes the status subresource. */
    status: async (object: KubeObject, status: object): Promise<void> => {
      const { name = "", namespace } = object.metadata;
      const body = { status };
      await client.patch(typeFor(object), { name, namespace }, { kind: "merge", body }, { subresource: "status" });
      await clock.advance(0);
    },
    /** Reasons of events about an object, oldest first. */
    events: async (name: string): Promise<readonly { reason: string; message: string; type: string }[]> => {
      const { items } = await client.list<KubeObject & EventFacts>(eventType);
      return items
        .filter(({ involvedObject }) => involvedObject.name === name)
        .map(({ reason, message, type }) => ({ reason, message, type }));
    },
    pass: (seconds: number) => clock.advance(seconds * 1_000),
    /** The controllers begin anew, with nothing in mind of what they were at. */
    restart: async () => {
      void loops.stop();
      loops = begin();
      await clock.advance(0);
    },
    stop: async () => {
      const stopping = Promise.all([loops.stop(), world?.stop()]);
      await clock.advance(60_000);
      await stopping;
    },
  };
}
export type ControllerWorld = Awaited<ReturnType<typeof controllerWorld>>;

interface EventFacts {
  readonly involvedObject: { readonly name: string };
  readonly reason: string;
  readonly message: string;
  readonly type: string;
}

const eventType: ResourceType = { group: "", version: "v1", kind: "Event", plural: "events", namespaced: true };

function typeFor(object: KubeObject): ResourceType {
  const type = resourceTypeOf(object);
  if (type === undefined) throw new Error(`no resource type for ${object.apiVersion} ${object.kind}`);
  return type;
}
