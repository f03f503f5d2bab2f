/** Specs that need a part of Karpenter that is not built yet, by that part. They are expected to fail. */
const missingParts: readonly { readonly part: string; readonly specs: RegExp }[] = [
  {
    part: "disruption",
    specs: new RegExp(
      [
        "^performance: ",
        "CapacityBuffer (Disruption should (allow drift|consolidate)|Edge Cases should not leak nodes)",
        "Drift Budgets should respect budgets for non-empty replace drift",
        "Drift Failure should not disrupt a drifted node if the replacement",
        "Drift NodePool Drift",
        "Integration DaemonSet should account for LimitRange", // the first node is too small, and goes when it is empty
        "Performance Provisioning should do .* and .* drift",
        "StaticCapacity Edge Cases should not go over limit", // in the end drifted nodes have been replaced
        "Termination Emptiness should terminate an empty node",
      ].join("|"),
    ),
  },
];

/** What a spec ("SUITE: NAME") needs that is not there yet. */
export function missingPartOf(key: string): string | undefined {
  return missingParts.find(({ specs }) => specs.test(key))?.part;
}

/** What CI runs: one or two quick specs of each kind, four minutes in all on an idle machine. */
const ciSelection: readonly RegExp[] = [
  /CapacityBuffer PodTemplateRef Provisioning should provision capacity/,
  /Drift should update the nodepool-hash annotation/,
  /Expiration should replace expired node/,
  /Integration Validation NodePool should error when (Gt|a requirement uses In)/,
  /Integration Validation Repair Policy Conditions Node Ready False/,
  /NodeClaim StandaloneNodeClaim should (create a standard NodeClaim$|delete a NodeClaim from the node termination)/,
  /regression: Performance Provisioning should do simple provisioning$/,
  /StaticCapacity (Provisioning should create static NodeClaims|Deprovisioning should scale down to zero)/,
  /Termination should terminate the node and the instance/,
];

export function isInCiSelection(key: string): boolean {
  return ciSelection.some((specs) => specs.test(key));
}
