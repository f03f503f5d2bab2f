import type { MethodProposal } from "../../core/disruption/disruption-pass.ts";
import type { DisruptionMethodName } from "../../core/disruption/methods.ts";
import type { NodeVerdict } from "../../core/disruption/verdict.ts";

/** What a method said of a node, and when. */
export interface DatedVerdict {
  readonly verdict: NodeVerdict;
  readonly atMs: number;
}

/** What each method said of every node when it was last asked, for those who ask why a node stays. */
export class LastVerdicts {
  readonly #byMethod = new Map<DisruptionMethodName, Pick<MethodProposal, "verdicts"> & { readonly atMs: number }>();

  record({ method, verdicts }: MethodProposal, atMs: number): void {
    this.#byMethod.set(method, { verdicts, atMs });
  }

  of(node: string): ReadonlyMap<DisruptionMethodName, DatedVerdict> {
    const found = [...this.#byMethod].flatMap(([method, { verdicts, atMs }]) => {
      const verdict = verdicts.find((one) => one.node === node);
      return verdict === undefined ? [] : [[method, { verdict, atMs }] as const];
    });
    return new Map(found);
  }
}
