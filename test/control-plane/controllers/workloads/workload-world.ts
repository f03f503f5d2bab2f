import type { KubeObject } from "../../../../src/api/object.ts";
import type { ApiServer } from "../../../../src/control-plane/api/server.ts";
import { garbageCollectionControllers } from "../../../../src/control-plane/controllers/garbage-collection/garbage-collection-controllers.ts";
import { workloadControllers } from "../../../../src/control-plane/controllers/workloads/workload-controllers.ts";
import type { KubeClient, ResourceType } from "../../../../src/kube/client.ts";
import { type ControllerFailure, startControllers } from "../../../../src/kube/controller.ts";
import type { Random } from "../../../../src/util/random.ts";
import { VirtualClock } from "../../../../src/util/virtual-clock.ts";
import { apiWorld, startAt } from "../../../world/api-world.ts";
import { FaultPlan } from "../../../world/faults/fault-plan.ts";
import { FaultyClient } from "../../../world/faults/faulty-client.ts";
import { WriteLog } from "../../../world/write-log.ts";
import { testKubelet } from "./test-kubelet.ts";

export { startAt };

export interface WorkloadWorldOptions {
  readonly seed?: string;
  readonly readyAfterMs?: number;
  readonly nodes?: readonly string[];
  /** Wraps the client of the controllers. */
  readonly wrapClient?: (client: KubeClient, world: { clock: VirtualClock; random: Random }) => KubeClient;
}

export interface WorkloadWorld {
  readonly api: ApiServer;
  readonly client: KubeClient;
  readonly clock: VirtualClock;
  readonly failures: ControllerFailure[];
  /** Every write the store saw, in order. */
  readonly journal: string[];
  /** Lets time pass. */
  pass(count: number): Promise<void>;
  create<T extends KubeObject = KubeObject>(object: unknown): Promise<T>;
  get<T extends KubeObject = KubeObject>(type: ResourceType, name: string): Promise<T | undefined>;
  list<T extends KubeObject = KubeObject>(type: ResourceType, labelSelector?: string): Promise<readonly T[]>;
  patch(type: ResourceType, name: string, body: unknown): Promise<void>;
  delete(type: ResourceType, name: string, propagation?: "Background" | "Foreground" | "Orphan"): Promise<void>;
  /** The controllers forget everything; calls under way may or may not have taken effect, and no others follow. */
  crash(): void;
  stop(): Promise<void>;
}

/** The workload and garbage collection controllers with a small kubelet. */
export async function workloadWorld(options: WorkloadWorldOptions = {}): Promise<WorkloadWorld> {
  const { seed = "test", readyAfterMs = 1_000, nodes = ["n1", "n2", "n3"] } = options;
  const journal: string[] = [];
  const clock = new VirtualClock({ startAt });
  const world = apiWorld({
    clock,
    seed,
    fieldManager: "test",
    journal: new WriteLog({ now: () => (clock.now() - startAt) / 1_000, onWrite: ({ line }) => journal.push(line) }),
  });
  const { api, client, random, pass } = world;
  const failures: ControllerFailure[] = [];
  let starts = 0;
  const start = () => {
    const own = random.fork(`loops-${starts++}`);
    const wrapped = options.wrapClient?.(client, { clock, random: own }) ?? client;
    const process = new FaultyClient({ client: wrapped, clock, plan: new FaultPlan({ random: own.fork("faults") }) });
    let isDead = false;
    const running = startControllers({
      client: process,
      clock,
      random: own,
      controllers: [...workloadControllers, ...garbageCollectionControllers, testKubelet({ readyAfterMs, nodes })],
      onFailure: (failure) => !isDead && failures.push(failure),
    });
    const kill = (): Promise<void> => {
      isDead = true;
      process.kill();
      return running.stop();
    };
    return { ...running, kill };
  };
  await world.create(...nodes.map((name) => ({ apiVersion: "v1", kind: "Node", metadata: { name } })));
  let running = start();
  const dying: Promise<void>[] = [];
  const namespace = "default";
  const keyOf = (type: ResourceType, name: string) => (type.namespaced ? { name, namespace } : { name });
  await pass(1);
  return {
    api,
    client,
    clock,
    failures,
    journal,
    pass,
    create: async <T extends KubeObject>(object: unknown) => {
      const { apiVersion, kind, metadata } = object as KubeObject;
      const type = api.kinds.findByApiVersion({ apiVersion, kind });
      if (type === undefined) throw new Error(`no kind ${kind}`);
      const placed = type.namespaced ? { namespace, ...metadata } : metadata;
      return client.create<T>(type, { ...(object as KubeObject), metadata: placed });
    },
    get: <T extends KubeObject>(type: ResourceType, name: string) =>
      world.get<T>(type, name, type.namespaced ? namespace : undefined),
    list: async <T extends KubeObject>(type: ResourceType, labelSelector?: string) =>
      (await client.list<T>(type, { ...(type.namespaced && { namespace }), labelSelector })).items,
    patch: async (type, name, body) => void (await client.patch(type, keyOf(type, name), { kind: "merge", body })),
    delete: async (type, name, propagation) =>
      void (await client.delete(type, keyOf(type, name), { propagation: propagation ?? "Background" })),
    crash: () => {
      dying.push(running.kill());
      running = start();
    },
    stop: async () => {
      await world.during(Promise.all([...dying, running.stop()]));
    },
  };
}

/** A pod template with an `app` label. */
export function template(
  app: string,
  { image = "app:1", annotations = {} }: { image?: string; annotations?: object } = {},
) {
  return { metadata: { labels: { app }, annotations }, spec: { containers: [{ name: "main", image }] } };
}

export function deployment(name: string, spec: object = {}, image = "app:1") {
  const selector = { matchLabels: { app: name } };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: { replicas: 3, selector, template: template(name, { image }), ...spec },
  };
}

export function newImage(image: string) {
  return { spec: { template: { spec: { containers: [{ name: "main", image }] } } } };
}
