import { resources, type Taint } from "../../../../api/labels.ts";
import type { LiveNode } from "../live.ts";
import type { LabelledNode } from "../node-terms.ts";
import type { AmountReader, Amounts } from "./amounts.ts";
import type { PodProfile } from "./profile.ts";

/** What of a Node decides who may run there. */
export interface NodeFacts extends LabelledNode {
  readonly taints: readonly Taint[];
  readonly isUnschedulable: boolean;
  readonly allocatable: Amounts;
}

export function nodeFacts({ metadata, spec, status }: LiveNode, reader: AmountReader): NodeFacts {
  return {
    name: metadata.name ?? "",
    labels: metadata.labels ?? {},
    taints: spec?.taints ?? [],
    isUnschedulable: spec?.unschedulable === true,
    allocatable: reader.ofList(status?.allocatable),
  };
}

/** A node and the pods on it, with their sums kept as pods come and go. */
export class NodeView {
  readonly facts: NodeFacts;
  readonly name: string;
  readonly maxPods: number;
  readonly #pods = new Map<string, PodProfile>();
  readonly #requested = new Map<string, number>();
  #scoredCpu = 0;
  #scoredMemory = 0;
  #ports = 0;

  constructor(facts: NodeFacts, pods: Iterable<PodProfile> = []) {
    this.facts = facts;
    this.name = facts.name;
    this.maxPods = facts.allocatable.get(resources.pods) ?? 0;
    for (const pod of pods) this.add(pod);
  }

  /** By namespace/name. */
  get pods(): ReadonlyMap<string, PodProfile> {
    return this.#pods;
  }

  /** Whether any pod here takes ports of the host. */
  get hasPorts(): boolean {
    return this.#ports > 0;
  }

  requested(name: string): number {
    return this.#requested.get(name) ?? 0;
  }

  /** With stand-ins for pods that ask for nothing. */
  get scoredCpu(): number {
    return this.#scoredCpu;
  }

  get scoredMemory(): number {
    return this.#scoredMemory;
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
    this.#scoredCpu += sign * pod.scored.cpu;
    this.#scoredMemory += sign * pod.scored.memory;
    this.#ports += sign * pod.ports.length;
  }
}
