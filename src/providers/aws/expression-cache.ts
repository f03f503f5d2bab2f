import { type CompileExpression, compileExpression } from "../../api/validation/kubelet-expressions.ts";
import type { Clock } from "../../util/clock.ts";
import { ExpiringMap } from "../../util/expiring-map.ts";

const keptMs = 12 * 60 * 60_000;

export interface ExpressionCacheOptions {
  readonly clock: Clock;
  readonly compile?: CompileExpression | undefined;
}

/** Compiles kubelet expressions, and keeps each until it was not used for 12 h: instance types are listed often. (04 §5.4) */
export function cachedCompilation({ clock, compile = compileExpression }: ExpressionCacheOptions): CompileExpression {
  const outcomes = new ExpiringMap<ReturnType<CompileExpression>>(clock);
  return (text) => {
    const outcome = outcomes.get(text) ?? compile(text);
    outcomes.set(text, outcome, keptMs);
    return outcome;
  };
}
