import type { KubeObject } from "../../src/api/object.ts";
import type { VolumeDelays } from "../../src/control-plane/controllers/volumes/persistent-volume-controller.ts";
import type { Settings } from "../../src/controllers/settings.ts";
import type { KubeClient, ResourceType } from "../../src/kube/client.ts";
import type { SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";

/** The cluster a story runs on, with our controller in it: in this process on the virtual clock, or a real one. */
export interface StoryCluster {
  /** What users of the cluster do. */
  readonly client: KubeClient;
  /** What happens in the cloud. */
  readonly cloud: SimulatedCloud;
  /** The namespace of the story's pods. */
  readonly namespace: string;
  now(): number;
  /** Creates or replaces what a manifest says; namespaced objects go to the story's namespace. */
  apply(...objects: readonly object[]): Promise<void>;
  get<T extends KubeObject>(type: ResourceType, name: string): Promise<T | undefined>;
  list<T extends KubeObject>(type: ResourceType): Promise<readonly T[]>;
  patch(type: ResourceType, name: string, body: object, options?: { readonly subresource?: "status" }): Promise<void>;
  remove(type: ResourceType, name: string): Promise<void>;
  scale(deployment: string, replicas: number): Promise<void>;
  /** Waits until it is so; throws with the state of the cluster after so many seconds of the cluster's time. */
  until(what: string, probe: () => Promise<boolean>, seconds?: number): Promise<void>;
  /** Lets time pass. */
  pass(seconds: number): Promise<void>;
  /** The controller is killed, and another one starts. */
  restart(): Promise<void>;
  /** The controller stops in good order, and another one starts. */
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
  /** Begins with its rules. */
  readonly title: string;
  /** Whether it takes hours, too long for real time. */
  readonly needsVirtualTime?: boolean;
  /** Whether it simulates so much time that only the long tier tells it. */
  readonly isLong?: boolean;
  /** How long volumes take to be made, attached and detached. */
  readonly volumes?: Partial<VolumeDelays>;
  /** Whether it is among the few that CI runs on the real control plane. */
  readonly isSmoke?: boolean;
  readonly settings?: Partial<Settings>;
  readonly run: (cluster: StoryCluster) => Promise<void>;
}
