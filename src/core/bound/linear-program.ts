/** A linear program over variables that are at least zero: the least cost under which all rows hold. */
export interface LinearProgram {
  readonly costs: readonly number[];
  readonly rows: readonly LinearConstraint[];
}

export interface LinearConstraint {
  readonly terms: readonly LinearTerm[];
  readonly relation: "<=" | ">=";
  readonly rightHandSide: number;
}

export interface LinearTerm {
  readonly variable: number;
  readonly coefficient: number;
}

/** Whoever can solve one: the least cost, or undefined where nothing satisfies all rows. */
export type SolveLp = (program: LinearProgram) => Promise<number | undefined>;
