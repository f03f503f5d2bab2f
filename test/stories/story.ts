import type { KubeObject } from "../../src/api/object.ts";
import type { VolumeDelays } from "../../src/control-plane/controllers/volumes/persistent-volume-controller.ts";
import type { Settings } from "../../src/controllers/settings.ts";
import type { KubeClient, ResourceType } from "../../src/kube/client.ts";
import type { SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";

/** Where a story is told: a cluster with our controller in it, embedded on the virtual clock or real. */
export interface StoryCluster {
  /** The user's hand. */
  readonly client: KubeClient;
  /** The cloud's hand. */
  readonly cloud: SimulatedCloud;
  /** Where the story's pods live. */
  readonly namespace: string;
  now(): number;
  /** Creates or replaces what a manifest says; namespaced objects go to the story's namespace. */
  apply(...objects: readonly object[]): Promise<void>;
  get<T extends KubeObject>(type: ResourceType, name: string): Promise<T | undefined>;
  list<T extends KubeObject>(type: ResourceType): Promise<readonly T[]>;
  patch(type: ResourceType, name: string, body: object, options?: { readonly subresource?: "status" }): Promise<void>;
  remove(type: ResourceType, name: string): Promise<void>;
  scale(deployment: string, replicas: number): Promise<void>;
  /** Until it is so; throws with what there is to see when it takes longer than so many seconds of the cluster's time. */
  until(what: string, probe: () => Promise<boolean>, seconds?: number): Promise<void>;
  /** Lets time pass. */
  pass(seconds: number): Promise<void>;
  /** The controller dies without a word, and another one starts. */
  restart(): Promise<void>;
  /** The controller ends in good order, and another one starts. */
  upgrade(): Promise<void>;
  /** Another controller joins, wanting to lead; returns how to end it. */
  rival(): Promise<() => Promise<void>>;
  /** What the controller logged, oldest first: level and message with the values. */
  log(): readonly { readonly level: string; readonly message: string; readonly [value: string]: unknown }[];
  /** Counters and gauges of all controllers of the story, by `name{a="b"}`. */
  series(): ReadonlyMap<string, number>;
  /** Events about an object of this name. */
  events(name: string): Promise<readonly { readonly reason: string; readonly message: string }[]>;
}

/** Something that happens in a cluster, and how it must end. */
export interface Story {
  /** With the rules it stands for. */
  readonly title: string;
  /** Stories of hours cannot be told in real time. */
  readonly needsVirtualTime?: boolean;
  /** How long volumes take to be made, attached and detached. */
  readonly volumes?: Partial<VolumeDelays>;
  /** Among the few that CI tells on the real control plane. */
  readonly isSmoke?: boolean;
  readonly settings?: Partial<Settings>;
  readonly run: (cluster: StoryCluster) => Promise<void>;
}
