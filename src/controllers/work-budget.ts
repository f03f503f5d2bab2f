/**
 * How long a search may run, and when it yields. In production: wall-clock time, in slices of a few milliseconds; in
 * simulation: a number of steps, so that the point where a search stops depends on the seed alone. (03 §8.6,
 * docs/designs/engine.md)
 */
export interface WorkBudget {
  /** Asked between two steps: whether to continue. A promise means that the slice is used up: wait for it. */
  mayContinue(): boolean | Promise<boolean>;
}

/** Opens a budget for one search. */
export type OpenWorkBudget = () => WorkBudget;
