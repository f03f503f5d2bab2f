/**
 * How long a search may go on, and when it lets others work. In production it is wall time, in slices of a few
 * milliseconds; in the simulated world a count of steps, so that where a search is cut short is part of the seed.
 * (03 §8.6, design §3)
 */
export interface Budget {
  /** Asked between two steps: whether to go on. A promise means that the slice was used up; wait for it. */
  goesOn(): boolean | Promise<boolean>;
}

/** Opens a budget for one search. */
export type Budgets = () => Budget;

/** So many steps, at once: for the simulated world. */
export function stepBudget(steps = Number.POSITIVE_INFINITY): Budgets {
  return () => {
    let left = steps;
    return { goesOn: () => left-- > 0 };
  };
}
