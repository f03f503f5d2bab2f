import type { NodeOverlay } from "../api/kinds/node-overlay.ts";
import type { NodePool } from "../api/kinds/node-pool.ts";
import type { LabelPolicy } from "../api/label-policy.ts";
import type { InstanceType } from "../core/instance-type.ts";
import { applyPoolOverlays, type OverlaidTypes } from "../core/overlay.ts";

/** The result of evaluating all overlays. */
export interface OverlayEvaluation {
  /** Those that are valid and without conflict. */
  readonly overlays: readonly NodeOverlay[];
  /** Names of the pools they were evaluated with. */
  readonly pools: ReadonlySet<string>;
}

/** The types of a pool when they were last asked for. */
interface CachedInstanceTypes {
  readonly base: readonly InstanceType[];
  readonly generation: number | undefined;
  readonly instanceTypes: readonly InstanceType[];
}

/**
 * The active overlays. Keeps overlays, not changed types: availability and prices change between evaluations. (02:O-8)
 */
export class OverlayStore {
  #evaluation: OverlayEvaluation | undefined;
  readonly #cache = new Map<string, CachedInstanceTypes>();
  readonly #priced = new WeakSet<InstanceType>();
  readonly #enlarged = new WeakSet<InstanceType>();
  readonly #listeners = new Set<() => void>();

  /** Includes types handed out before the last evaluation. (02:L-3) */
  readonly overlaid: OverlaidTypes = { priced: this.#priced, enlarged: this.#enlarged };

  hasEvaluated(pool: string): boolean {
    return this.#evaluation?.pools.has(pool) ?? false;
  }

  /** All at once, so that nobody sees half of an evaluation. (02:O-8) */
  replace(evaluation: OverlayEvaluation): void {
    this.#evaluation = evaluation;
    this.#cache.clear();
    for (const listener of [...this.#listeners]) listener();
  }

  /** Calls the listener on every replacement. Returns how to stop. */
  subscribe(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** Returns the same array for the same types, so that caches by identity stay valid. (02:O-9) */
  apply(
    nodePool: NodePool,
    { base, policy }: { readonly base: readonly InstanceType[]; readonly policy: LabelPolicy },
  ): readonly InstanceType[] {
    const { name = "", generation } = nodePool.metadata;
    const known = this.#cache.get(name);
    if (known !== undefined && known.base === base && known.generation === generation) return known.instanceTypes;
    const overlays = this.#evaluation?.overlays ?? [];
    const { instanceTypes, priced, enlarged } = applyPoolOverlays(
      { nodePool, instanceTypes: base },
      { overlays, policy },
    );
    for (const type of priced) this.#priced.add(type);
    for (const type of enlarged) this.#enlarged.add(type);
    this.#cache.set(name, { base, generation, instanceTypes });
    return instanceTypes;
  }
}
