import type { Pod } from "../api/kubernetes/pod.ts";
import { isProvisionable, isTerminalPod } from "../core/pod-predicates.ts";
import { SortedMap } from "../util/sorted-map.ts";

/** What a change of a pod means for nodes. */
export interface PodUpdate {
  readonly old: Pod | undefined;
  /** It takes room on a node where it took none before. (02:S-40) */
  readonly isNewBinding: boolean;
  /** It takes the same room as before: most news of pods is about how they fare. */
  readonly isLoadSame: boolean;
}

const noPods: readonly Pod[] = [];
/** A millisecond of work. */
const maxUnordered = 256;

/** Pods, in the lists that rounds ask for. Whether a pod's node is known does not matter here. (02:S-7, S-8) */
export class PodIndex {
  readonly #all = new Map<string, Pod>();
  readonly #bound = new SortedMap<Pod>();
  readonly #pending = new SortedMap<Pod>();
  /** Those that take room, by node. */
  readonly #byNode = new Map<string, SortedMap<Pod>>();

  get(key: string): Pod | undefined {
    return this.#all.get(key);
  }

  /** Asked after each change, so that whoever asks for all of them need not wait for many to be put in order. */
  limitUnordered(): void {
    if (this.#bound.unsortedCount > maxUnordered) this.#bound.values();
  }

  /** Bound to a node, over or not. */
  bound(): readonly Pod[] {
    return this.#bound.values();
  }

  /** Provisionable ones. */
  pending(): readonly Pod[] {
    return this.#pending.values();
  }

  /** Bound to the node and not over. */
  onNode(node: string | undefined): readonly Pod[] {
    return (node === undefined ? undefined : this.#byNode.get(node)?.values()) ?? noPods;
  }

  put(key: string, pod: Pod): PodUpdate {
    const old = this.#all.get(key);
    this.#all.set(key, pod);
    setOrDelete(this.#bound, { key, pod, belongs: nodeNameOfPod(pod) !== "" });
    setOrDelete(this.#pending, { key, pod, belongs: isProvisionable(pod) });
    const [before, now] = [occupiedNodeName(old), occupiedNodeName(pod)];
    if (before !== now) this.#removeFromNode(before, key);
    if (now !== undefined) this.#podsOnNode(now).set(key, pod);
    const isNewBinding = now !== undefined && before !== now;
    return { old, isNewBinding, isLoadSame: before === now && old !== undefined && hasSameLoad(old, pod) };
  }

  remove(key: string): Pod | undefined {
    const old = this.#all.get(key);
    this.#all.delete(key);
    this.#bound.delete(key);
    this.#pending.delete(key);
    this.#removeFromNode(occupiedNodeName(old), key);
    return old;
  }

  #podsOnNode(node: string): SortedMap<Pod> {
    const known = this.#byNode.get(node);
    if (known !== undefined) return known;
    const made = new SortedMap<Pod>();
    this.#byNode.set(node, made);
    return made;
  }

  #removeFromNode(node: string | undefined, key: string): void {
    const pods = node === undefined ? undefined : this.#byNode.get(node);
    pods?.delete(key);
    if (node !== undefined && pods?.size === 0) this.#byNode.delete(node);
  }
}

export function nodeNameOfPod({ spec }: Pod): string {
  return spec.nodeName ?? "";
}

/** The node it takes room on. */
function occupiedNodeName(pod: Pod | undefined): string | undefined {
  return pod === undefined || nodeNameOfPod(pod) === "" || isTerminalPod(pod) ? undefined : nodeNameOfPod(pod);
}

/** By identity, which equal parts of pods have: a doubt costs a look, nothing more. */
function hasSameLoad(a: Pod, b: Pod): boolean {
  return (
    a.spec.containers === b.spec.containers &&
    a.spec.initContainers === b.spec.initContainers &&
    a.spec.resources === b.spec.resources &&
    a.spec.overhead === b.spec.overhead &&
    a.spec.volumes === b.spec.volumes &&
    a.status?.containerStatuses === b.status?.containerStatuses &&
    a.status?.initContainerStatuses === b.status?.initContainerStatuses &&
    a.metadata.ownerReferences === b.metadata.ownerReferences
  );
}

function setOrDelete(list: SortedMap<Pod>, { key, pod, belongs }: { key: string; pod: Pod; belongs: boolean }): void {
  if (belongs) list.set(key, pod);
  else list.delete(key);
}
