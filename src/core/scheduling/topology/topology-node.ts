import { labels, type Taint } from "../../../api/labels.ts";
import type { Requirements } from "../../requirements.ts";
import type { LabelReader } from "../label-reader.ts";
import type { NodeLabelsAndTaints } from "../problem.ts";
import type { FilteredNode } from "./topology-node-filter.ts";

/** A Node object as topology reads it. Its labels become requirements only if a filter needs them. */
export class TopologyNode implements FilteredNode {
  readonly #node: NodeLabelsAndTaints;
  readonly #reader: LabelReader;
  #requirements: Requirements | undefined;

  constructor(node: NodeLabelsAndTaints, reader: LabelReader) {
    this.#node = node;
    this.#reader = reader;
  }

  /** Own labels only: a topology key may be called `constructor`. */
  labelOf(key: string): string | undefined {
    return Object.hasOwn(this.#node.labels, key) ? this.#node.labels[key] : undefined;
  }

  get requirements(): Requirements {
    this.#requirements ??= this.#reader.read(this.#node.labels).without(labels.hostname);
    return this.#requirements;
  }

  get hostname(): string | undefined {
    return this.#node.labels[labels.hostname];
  }

  get taints(): readonly Taint[] {
    return this.#node.taints;
  }
}
