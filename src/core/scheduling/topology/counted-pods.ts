import type { Pod } from "../../../api/kubernetes/pod.ts";

/** Pods of a namespace, by the labels that some selector reads. */
export class CountedPods {
  readonly all: Pod[] = [];
  readonly #byLabel: ReadonlyMap<string, Map<string, Pod[]>>;

  constructor(selectedKeys: Iterable<string>) {
    this.#byLabel = new Map([...selectedKeys].map((key) => [key, new Map()]));
  }

  add(pod: Pod): void {
    this.all.push(pod);
    const { labels } = pod.metadata;
    if (labels === undefined) return;
    for (const [key, byValue] of this.#byLabel) {
      const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
      if (value === undefined) continue;
      const pods = byValue.get(value);
      if (pods === undefined) byValue.set(value, [pod]);
      else pods.push(pod);
    }
  }

  withLabel({ key, value }: { readonly key: string; readonly value: string }): readonly Pod[] | undefined {
    return this.#byLabel.get(key)?.get(value);
  }
}
