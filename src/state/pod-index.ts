import type { Pod } from "../api/kubernetes/pod.ts";
import { isProvisionable, isTerminalPod } from "../core/pod-predicates.ts";
import { SortedMap } from "../util/sorted-map.ts";

/** What a change of a pod means for its node. */
export interface PodUpdate {
  readonly old: Pod | undefined;
  /** It uses a node it did not use before. (02:S-40) */
  readonly isNewBinding: boolean;
  /** Its requests, ports and volumes are unchanged: most updates of pods are status. */
  readonly isLoadSame: boolean;
}

const noPods: readonly Pod[] = [];
/** About a millisecond of sorting. */
const maxUnordered = 256;

/** Pods in the lists that rounds read: bound, pending, by node. The node need not be known. (02:S-7, S-8) */
export class PodIndex {
  readonly #all = new Map<string, Pod>();
  readonly #bound = new SortedMap<Pod>();
  readonly #pending = new SortedMap<Pod>();
  /** Those that are not terminal, by node. */
  readonly #byNode = new Map<string, SortedMap<Pod>>();

  get(key: string): Pod | undefined {
    return this.#all.get(key);
  }

  /** Called after each change, so that reading all bound pods never has to sort many. */
  limitUnordered(): void {
    if (this.#bound.unsortedCount > maxUnordered) this.#bound.values();
  }

  /** Bound to a node, terminal ones too. */
  bound(): readonly Pod[] {
    return this.#bound.values();
  }

  /** Provisionable ones. */
  pending(): readonly Pod[] {
    return this.#pending.values();
  }

  /** Bound to the node and not terminal. */
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

/** The node whose resources it uses. */
function occupiedNodeName(pod: Pod | undefined): string | undefined {
  return pod === undefined || nodeNameOfPod(pod) === "" || isTerminalPod(pod) ? undefined : nodeNameOfPod(pod);
}

/** By identity, which interned parts have; a false "different" only costs a recomputation. */
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
