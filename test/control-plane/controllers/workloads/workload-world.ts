import type { KubeObject } from "../../../../src/api/object.ts";
import { ApiServer } from "../../../../src/control-plane/api/server.ts";
import { garbageCollectionControllers } from "../../../../src/control-plane/controllers/garbage-collection/garbage-collection-controllers.ts";
import { workloadControllers } from "../../../../src/control-plane/controllers/workloads/workload-controllers.ts";
import { InProcessClient } from "../../../../src/control-plane/in-process-client.ts";
import type { JournalEntry } from "../../../../src/control-plane/store/journal.ts";
import type { KubeClient, ResourceType } from "../../../../src/kube/client.ts";
import { type ControllerFailure, startControllers } from "../../../../src/kube/controller.ts";
import { isKubeError, KubeError } from "../../../../src/kube/kube-error.ts";
import { builtInTypes } from "../../../../src/kube/resources.ts";
import { Random } from "../../../../src/util/random.ts";
import { VirtualClock } from "../../../../src/util/virtual-clock.ts";
import { testKubelet } from "./test-kubelet.ts";

export interface WorkloadWorldOptions {
  readonly seed?: string;
  readonly readyAfterMs?: number;
  readonly nodes?: readonly string[];
  /** Wraps the client the loops use. */
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
  /** The loops lose all they know; calls under way may or may not have taken effect, and no others follow. */
  crash(): void;
  stop(): Promise<void>;
}

export const startAt = Date.parse("2026-01-01T00:00:00Z");

/** A control plane with the loops of this folder and a kubelet of sorts, in virtual time. */
export async function workloadWorld(options: WorkloadWorldOptions = {}): Promise<WorkloadWorld> {
  const { seed = "test", readyAfterMs = 1_000, nodes = ["n1", "n2", "n3"] } = options;
  const clock = new VirtualClock({ startAt });
  const random = new Random(seed);
  const journal: string[] = [];
  const api = new ApiServer({
    clock,
    random,
    journal: {
      append: async ({ op, revision, storage = "", key = "" }: JournalEntry) => {
        journal.push(`${(clock.now() - startAt) / 1000} ${revision} ${op} ${storage} ${key}`);
      },
    },
  });
  const client = new InProcessClient(api, { fieldManager: "test" });
  const troubles: ControllerFailure[] = [];
  let generation = 0;
  const start = () => {
    const own = random.fork(`loops-${generation++}`);
    const life = { isOver: false };
    const used = options.wrapClient?.(client, { clock, random: own }) ?? client;
    const loops = startControllers({
      client: mortal(used, life),
      clock,
      random: own,
      controllers: [...workloadControllers, ...garbageCollectionControllers, testKubelet({ readyAfterMs, nodes })],
      onFailure: (trouble) => !life.isOver && troubles.push(trouble),
    });
    return { ...loops, life };
  };
  for (const name of nodes)
    await client.create(builtInTypes.Node, { apiVersion: "v1", kind: "Node", metadata: { name } });
  let running = start();
  const dying: Promise<void>[] = [];
  const namespace = "default";
  const keyOf = (type: ResourceType, name: string) => (type.namespaced ? { name, namespace } : { name });
  const cluster: WorkloadWorld = {
    api,
    client,
    clock,
    failures: troubles,
    journal,
    pass: async (count) => void (await clock.advance(count * 1000)),
    create: async <T extends KubeObject>(object: unknown) => {
      const { apiVersion, kind, metadata } = object as KubeObject;
      const type = api.kinds.findByApiVersion({ apiVersion, kind });
      if (type === undefined) throw new Error(`no kind ${kind}`);
      const placed = type.namespaced ? { namespace, ...metadata } : metadata;
      return client.create<T>(type, { ...(object as KubeObject), metadata: placed });
    },
    get: async <T extends KubeObject>(type: ResourceType, name: string) => {
      try {
        return await client.get<T>(type, keyOf(type, name));
      } catch (error) {
        if (isKubeError(error, "not-found")) return undefined;
        throw error;
      }
    },
    list: async <T extends KubeObject>(type: ResourceType, labelSelector?: string) =>
      (await client.list<T>(type, { ...(type.namespaced && { namespace }), labelSelector })).items,
    patch: async (type, name, body) => void (await client.patch(type, keyOf(type, name), { kind: "merge", body })),
    delete: async (type, name, propagation) =>
      void (await client.delete(type, keyOf(type, name), { propagation: propagation ?? "Background" })),
    crash: () => {
      running.life.isOver = true;
      dying.push(running.stop());
      running = start();
    },
    stop: async () => {
      const all = Promise.all([...dying, running.stop()]);
      await clock.advance(60_000); // calls under way end in their own time
      await all;
    },
  };
  await cluster.pass(1);
  return cluster;
}

/** A client that answers nothing any more once its owner is dead. */
function mortal(client: KubeClient, life: { readonly isOver: boolean }): KubeClient {
  const alive = (): KubeClient => {
    if (life.isOver) throw new KubeError("unavailable", "its owner is no more");
    return client;
  };
  return {
    get: async (...call) => alive().get(...call),
    list: async (...call) => alive().list(...call),
    watch: (...call) => alive().watch(...call),
    create: async (...call) => alive().create(...call),
    update: async (...call) => alive().update(...call),
    patch: async (...call) => alive().patch(...call),
    delete: async (...call) => alive().delete(...call),
  };
}

/** A template whose pods wear a label. */
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
