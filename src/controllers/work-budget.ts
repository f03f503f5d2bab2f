/**
 * How long a search may go on, and when it lets others work. In production it is wall time, in slices of a few
 * milliseconds; in the simulated world a count of steps, so that where a search is cut short is part of the seed.
 * (03 §8.6, docs/designs/engine.md)
 */
export interface WorkBudget {
  /** Asked between two steps: whether to go on. A promise means that the slice was used up; wait for it. */
  mayContinue(): boolean | Promise<boolean>;
}

/** Opens a budget for one search. */
export type OpenWorkBudget = () => WorkBudget;
