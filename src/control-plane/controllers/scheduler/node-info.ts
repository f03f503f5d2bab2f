import { resources, type Taint } from "../../../api/labels.ts";
import type { ApiNode } from "../api-pod-and-node.ts";
import type { LabelledNode } from "../node-selector.ts";
import type { PodProfile } from "./pod-profile.ts";
import type { SchedulerAmountReader, SchedulerAmounts } from "./scheduler-amounts.ts";

/** The parts of a Node that scheduling depends on. */
export interface NodeFacts extends LabelledNode {
  readonly taints: readonly Taint[];
  readonly isUnschedulable: boolean;
  readonly allocatable: SchedulerAmounts;
}

export function nodeFacts({ metadata, spec, status }: ApiNode, reader: SchedulerAmountReader): NodeFacts {
  return {
    name: metadata.name ?? "",
    labels: metadata.labels ?? {},
    taints: spec?.taints ?? [],
    isUnschedulable: spec?.unschedulable === true,
    allocatable: reader.ofList(status?.allocatable),
  };
}

/** A node with its pods and their request sums, updated as pods are added and removed. */
export class NodeInfo {
  readonly facts: NodeFacts;
  readonly name: string;
  readonly maxPods: number;
  readonly #pods = new Map<string, PodProfile>();
  readonly #requested = new Map<string, number>();
  #nonZeroRequestedCpu = 0;
  #nonZeroRequestedMemory = 0;
  #hostPortCount = 0;

  constructor(facts: NodeFacts, pods: Iterable<PodProfile> = []) {
    this.facts = facts;
    this.name = facts.name;
    this.maxPods = facts.allocatable.get(resources.pods) ?? 0;
    for (const pod of pods) this.add(pod);
  }

  /** By key. */
  get pods(): ReadonlyMap<string, PodProfile> {
    return this.#pods;
  }

  /** Whether any pod on the node uses host ports. */
  get hasHostPorts(): boolean {
    return this.#hostPortCount > 0;
  }

  requested(name: string): number {
    return this.#requested.get(name) ?? 0;
  }

  /** Requests with stand-ins for pods that request nothing (kube-scheduler's NonZeroRequested). */
  get nonZeroRequestedCpu(): number {
    return this.#nonZeroRequestedCpu;
  }

  get nonZeroRequestedMemory(): number {
    return this.#nonZeroRequestedMemory;
  }

  add(pod: PodProfile): void {
    this.remove(pod.key);
    this.#pods.set(pod.key, pod);
    this.#count(pod, 1);
  }

  remove(key: string): void {
    const pod = this.#pods.get(key);
    if (pod === undefined) return;
    this.#pods.delete(key);
    this.#count(pod, -1);
  }

  #count(pod: PodProfile, sign: 1 | -1): void {
    for (const [name, amount] of pod.requests) this.#requested.set(name, this.requested(name) + sign * amount);
    this.#nonZeroRequestedCpu += sign * pod.nonZeroRequests.cpu;
    this.#nonZeroRequestedMemory += sign * pod.nonZeroRequests.memory;
    this.#hostPortCount += sign * pod.hostPorts.length;
  }
}
