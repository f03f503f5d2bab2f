/** What is wrong with the command line. */
export interface UsageProblems {
  readonly problems: readonly string[];
}
