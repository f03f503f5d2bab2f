import type { ResourceList } from "../api/kubernetes/pod.ts";
import { labels, type Taint } from "../api/labels.ts";

/** State of a simulated kubelet; faults are injected here. (05:CP-L10) */
export const kubeletHealths = [
  "healthy",
  /** Reports NotReady and starts no pods. */
  "not-ready",
  /** Takes ten times as long. */
  "slow",
  /** Reports nothing, though the instance runs. */
  "silent",
] as const;
export type KubeletHealth = (typeof kubeletHealths)[number];

/** An instance of the simulated cloud, as its kubelet sees it. */
export interface SimulatedInstance {
  readonly id: string;
  readonly providerId: string;
  /** The name of its Node. */
  readonly nodeName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly taints: readonly Taint[];
  readonly capacity: ResourceList;
  readonly allocatable: ResourceList;
  /** Milliseconds since the epoch. */
  readonly launchedAt: number;
  /** From launch until its Node appears. */
  readonly bootMs: number;
  /** From then until the Node is ready. */
  readonly readyMs?: number | undefined;
  readonly state: "running" | "terminated";
  readonly kubelet: KubeletHealth;
  /** How many volumes it can attach, by driver. */
  readonly volumeLimits?: Readonly<Record<string, number>> | undefined;
}

/** Where simulated kubelets get their instances. */
export interface InstanceSource {
  /** All that are running, in any order. */
  list(): readonly SimulatedInstance[];
  /** Calls the handler on every change; the last one of an instance is its termination. Returns how to stop. */
  subscribe(handler: (instance: SimulatedInstance) => void): () => void;
  /** Whether an instance of this id would be listed here: if it is not, it is gone. */
  owns(providerId: string): boolean;
}

const providerIdPrefix = "simulated:///";

/** Instances in memory: for `--nodes N`, and for tests. */
export class InstanceList implements InstanceSource {
  readonly #instances = new Map<string, SimulatedInstance>();
  readonly #handlers = new Set<(instance: SimulatedInstance) => void>();

  constructor(instances: Iterable<SimulatedInstance> = []) {
    for (const instance of instances) this.#instances.set(instance.id, instance);
  }

  list(): readonly SimulatedInstance[] {
    return [...this.#instances.values()];
  }

  subscribe(handler: (instance: SimulatedInstance) => void): () => void {
    const own = (instance: SimulatedInstance): void => handler(instance);
    this.#handlers.add(own);
    return () => this.#handlers.delete(own);
  }

  owns(providerId: string): boolean {
    return providerId.startsWith(providerIdPrefix);
  }

  launch(instance: SimulatedInstance): void {
    this.#instances.set(instance.id, instance);
    this.#notify(instance);
  }

  /** Injects a fault, or ends one. */
  setKubelet(id: string, kubelet: KubeletHealth): void {
    this.launch({ ...this.#existing(id), kubelet });
  }

  /** Terminates the instance without notice. */
  terminate(id: string): void {
    const instance = this.#existing(id);
    this.#instances.delete(id);
    this.#notify({ ...instance, state: "terminated" });
  }

  #existing(id: string): SimulatedInstance {
    const instance = this.#instances.get(id);
    if (instance === undefined) throw new Error(`no instance ${id}`);
    return instance;
  }

  #notify(instance: SimulatedInstance): void {
    for (const handler of [...this.#handlers]) handler(instance);
  }
}

export interface DefaultInstanceOptions {
  readonly launchedAt: number;
  readonly bootMs?: number | undefined;
  readonly cpu?: string | undefined;
  readonly memory?: string | undefined;
  /** Where it is; in a region of its own by default. */
  readonly placement?: InstancePlacement | undefined;
}

/** A region with at least one zone. */
export interface InstancePlacement {
  readonly region: string;
  readonly zones: readonly string[];
}

const simulatedPlacement: InstancePlacement = {
  region: "simulated",
  zones: ["simulated-a", "simulated-b", "simulated-c"],
};

/** An instance of four cores, in one of the zones in turn. */
export function defaultInstance(ordinal: number, options: DefaultInstanceOptions): SimulatedInstance {
  const { launchedAt, bootMs = 0, cpu = "4", memory = "16Gi", placement = simulatedPlacement } = options;
  const nodeName = `node-${ordinal}`;
  const { region, zones } = placement;
  const resources = { cpu, memory, "ephemeral-storage": "100Gi", pods: "110" };
  return {
    id: nodeName,
    providerId: `${providerIdPrefix}${nodeName}`,
    nodeName,
    labels: {
      [labels.arch]: "amd64",
      [labels.hostname]: nodeName,
      [labels.os]: "linux",
      [labels.instanceType]: `simulated-${cpu}x`,
      [labels.region]: region,
      [labels.zone]: zones[(ordinal - 1) % zones.length] ?? region,
    },
    taints: [],
    capacity: resources,
    allocatable: resources,
    launchedAt,
    bootMs,
    state: "running",
    kubelet: "healthy",
  };
}
