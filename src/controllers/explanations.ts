import type { DisruptionExplanation } from "../core/explain/explain-disruption.ts";
import type { Explanation } from "../core/explain/explanation.ts";
import type { NotPendingPod } from "../core/explain/why-not-pending.ts";
import { Semaphore } from "../util/semaphore.ts";

/** What somebody who asks about an object gets. */
export type ExplanationReply<T> =
  | { readonly kind: "explained"; readonly explanation: T; readonly atMs: number }
  /** There is no such object. */
  | { readonly kind: "unknown" }
  /** The controllers do not run in this process, or not yet: another replica leads. */
  | { readonly kind: "not-leading" }
  /** The cluster has not been read completely yet. */
  | { readonly kind: "not-synced" };

/** One explanation of an object by its name. */
export type Explain<T> = (name: string) => Promise<ExplanationReply<T>>;

type NodeExplain = Explain<DisruptionExplanation>;
type PodExplain = Explain<Explanation | NotPendingPod>;

/**
 * Answers questions about nodes and pods with what the controllers know that decide about them. They say how while they
 * run. One question is answered at a time: an answer may take as much work as a search.
 */
export class Explanations {
  readonly #oneAtATime = new Semaphore(1);
  #node: NodeExplain | undefined;
  #pod: PodExplain | undefined;

  /** Returns how to take it back. */
  provideNodes(explain: NodeExplain): () => void {
    this.#node = explain;
    return () => {
      if (this.#node === explain) this.#node = undefined;
    };
  }

  /** Returns how to take it back. */
  providePods(explain: PodExplain): () => void {
    this.#pod = explain;
    return () => {
      if (this.#pod === explain) this.#pod = undefined;
    };
  }

  node: NodeExplain = (name) => this.#ask(() => this.#node, name);
  /** By namespace/name. */
  pod: PodExplain = (name) => this.#ask(() => this.#pod, name);

  async #ask<T>(explainer: () => Explain<T> | undefined, name: string): Promise<ExplanationReply<T>> {
    if (explainer() === undefined) return { kind: "not-leading" };
    const release = await this.#oneAtATime.acquire();
    try {
      return (await explainer()?.(name)) ?? { kind: "not-leading" };
    } finally {
      release();
    }
  }
}
