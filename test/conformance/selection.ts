/** Specs that need a part of Karpenter that is not built yet, by that part. They are expected to fail. */
const missingParts: readonly { readonly part: string; readonly specs: RegExp }[] = [
  {
    part: "disruption",
    specs: new RegExp(
      [
        "^performance: ",
        "CapacityBuffer Disruption should (allow drift|consolidate)",
        "Drift Budgets should respect budgets for non-empty replace drift",
        "Drift Failure should not disrupt a drifted node if the replacement",
        "Drift NodePool Drift",
        "Integration DaemonSet should account for LimitRange", // the first node is too small, and goes when it is empty
        "Performance Provisioning should do .* and .* drift",
        "StaticCapacity Drift",
        "Termination Emptiness should terminate an empty node",
      ].join("|"),
    ),
  },
];

/** What a spec ("SUITE: NAME") needs that is not there yet. */
export function missingPartOf(key: string): string | undefined {
  return missingParts.find(({ specs }) => specs.test(key))?.part;
}

/** What CI runs: one or two quick specs of each kind, eight minutes in all. */
const ciSelection: readonly RegExp[] = [];

export function isInCiSelection(key: string): boolean {
  return ciSelection.some((specs) => specs.test(key));
}
