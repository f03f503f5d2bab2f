/** Minimizes the cost over variables that are at least zero, subject to the rows. */
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

/** Solves a program: the least cost, or undefined if it is infeasible. */
export type SolveLp = (program: LinearProgram) => Promise<number | undefined>;
