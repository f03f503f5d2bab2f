import type { KubeObject } from "../../../src/api/object.ts";
import { defaultInstance, InstanceList, type SimulatedInstance } from "../../../src/cloud/instance-source.ts";
import type { ApiServer } from "../../../src/control-plane/api/server.ts";
import type { ApiNode, ApiPod } from "../../../src/control-plane/controllers/api-pod-and-node.ts";
import {
  type ClusterControllerOptions,
  clusterControllers,
} from "../../../src/control-plane/controllers/cluster-controllers.ts";
import { LeaseTimes } from "../../../src/control-plane/controllers/kubelet/lease-times.ts";
import type { InProcessClient } from "../../../src/control-plane/in-process-client.ts";
import type { Journal } from "../../../src/control-plane/store/journal.ts";
import type { KubeClient, ResourceType } from "../../../src/kube/client.ts";
import {
  type Controller,
  type ControllerFailure,
  type RunningControllers,
  startControllers,
} from "../../../src/kube/controller.ts";
import { isKubeError, KubeError } from "../../../src/kube/kube-error.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import type { Random } from "../../../src/util/random.ts";
import { VirtualClock } from "../../../src/util/virtual-clock.ts";
import { type ApiWorld, apiWorld } from "../../world/api-world.ts";
import { interceptCalls } from "../../world/intercept-calls.ts";

export const startAt = Date.parse("2026-01-15T12:00:00Z");

export interface ClusterWorldOptions {
  readonly seed?: string;
  /** How many nodes there are at the start. */
  readonly nodes?: number;
  readonly instance?: (instance: SimulatedInstance) => SimulatedInstance;
  readonly controllers?: Omit<ClusterControllerOptions, "kubelets"> & {
    readonly kubelets?: Partial<ClusterControllerOptions["kubelets"]>;
  };
  readonly otherControllers?: readonly Controller[];
  /** How likely each call of the controllers fails, before or after it took effect. */
  readonly failureRate?: number;
  /** Whether a line is kept of every write. */
  readonly keepsLog?: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** The scheduler, kubelets, node and volume controllers of the simulated cluster, without the workload controllers. */
export class ClusterWorld {
  readonly clock: VirtualClock;
  readonly instances: InstanceList;
  readonly api: ApiServer;
  readonly client: InProcessClient;
  readonly pass: ApiWorld["pass"];
  readonly times: LeaseTimes;
  readonly failures: ControllerFailure[] = [];
  readonly log: string[] = [];
  /** How many calls failed on purpose. */
  injectedFailures = 0;
  readonly #options: ClusterWorldOptions;
  readonly #random: Random;
  #running: RunningControllers | undefined;

  constructor(options: ClusterWorldOptions = {}) {
    const { seed = "seed", nodes = 3, instance = (same) => same, keepsLog = false } = options;
    this.#options = options;
    this.clock = new VirtualClock({ startAt });
    const journal: Journal = {
      append: async (entry) => void this.log.push(JSON.stringify([this.clock.now(), entry])),
    };
    const world = apiWorld({ clock: this.clock, seed, ...(keepsLog && { journal }) });
    this.api = world.api;
    this.client = world.client;
    this.pass = world.pass;
    this.#random = world.random;
    this.instances = new InstanceList(
      Array.from({ length: nodes }, (_, at) => instance(defaultInstance(at + 1, { launchedAt: startAt }))),
    );
    this.times = new LeaseTimes(this.clock);
    this.api.setReadTransform(this.api.kinds.get(builtInTypes.Lease), this.times.overlay);
  }

  async start(): Promise<this> {
    const { controllers = {}, otherControllers = [] } = this.#options;
    const leases = {
      kind: "computed",
      times: this.times,
      isWatched: () => this.api.watcherCount(this.api.kinds.get(builtInTypes.Lease)) > 0,
    } as const;
    const kubelets = { instances: this.instances, leases, ...controllers.kubelets };
    this.#running = startControllers({
      client: this.#unreliableClient(),
      clock: this.clock,
      random: this.#random.fork("loops"),
      controllers: [...clusterControllers({ ...controllers, kubelets }), ...otherControllers],
      onFailure: (failure) => this.failures.push(failure),
    });
    await this.pass(0);
    return this;
  }

  #unreliableClient(): KubeClient {
    const { failureRate = 0 } = this.#options;
    const random = this.#random.fork("failures");
    if (failureRate === 0) return this.client;
    const fail = (): never => {
      this.injectedFailures++;
      throw new KubeError(random.pick(["server-error", "timeout", "too-many-requests", "conflict"]), "on purpose");
    };
    return interceptCalls(this.client, async (_, proceed) => {
      const draw = random.next();
      if (draw < failureRate / 2) fail();
      const answer = await proceed();
      return draw < failureRate ? fail() : answer;
    });
  }

  async stop(): Promise<void> {
    const stopping = this.#running?.stop();
    await this.clock.runUntilIdle({ untilMs: this.clock.now() });
    await stopping;
  }

  /** As if the process of the controllers had died: what they held is gone, the API server is not. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  create<T extends KubeObject>(type: ResourceType, object: Pick<KubeObject, "metadata"> & Fields): Promise<T> {
    const apiVersion = type.group === "" ? type.version : `${type.group}/${type.version}`;
    return this.client.create<T>(type, { apiVersion, kind: type.kind, ...object } as KubeObject);
  }

  async pod(name: string): Promise<ApiPod> {
    return this.client.get<ApiPod>(builtInTypes.Pod, { name, namespace: "default" });
  }

  async findPod(name: string): Promise<ApiPod | undefined> {
    try {
      return await this.pod(name);
    } catch (error) {
      if (isKubeError(error, "not-found")) return undefined;
      throw error;
    }
  }

  node(name: string): Promise<ApiNode> {
    return this.client.get<ApiNode>(builtInTypes.Node, { name });
  }

  async pods(): Promise<readonly ApiPod[]> {
    return (await this.client.list<ApiPod>(builtInTypes.Pod)).items;
  }

  async events(reason: string): Promise<readonly string[]> {
    const { items } = await this.client.list<KubeObject & { reason: string; message: string }>(builtInTypes.Event);
    return items.filter((event) => event.reason === reason).map(({ message }) => message);
  }
}

export interface PodOptions {
  readonly cpu?: string;
  readonly memory?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
}

export function podObject(name: string, { cpu, memory, labels, annotations, spec }: PodOptions = {}) {
  const requests = { ...(cpu && { cpu }), ...(memory && { memory }) };
  return {
    metadata: { name, namespace: "default", ...(labels && { labels }), ...(annotations && { annotations }) },
    spec: { containers: [{ name: "app", image: "app:1", resources: { requests } }], ...spec },
  };
}
