/** What CI runs: one or two quick specs of each kind, five minutes in all on an idle machine. */
const ciSelection: readonly RegExp[] = [
  /CapacityBuffer PodTemplateRef Provisioning should provision capacity/,
  /CapacityBuffer Disruption should allow drift to replace buffer nodes/,
  /Drift should update the nodepool-hash annotation/,
  /Expiration should replace expired node/,
  /Integration Validation NodePool should error when (Gt|a requirement uses In)/,
  /Integration Validation Repair Policy Conditions Node Ready False/,
  /NodeClaim StandaloneNodeClaim should (create a standard NodeClaim$|delete a NodeClaim from the node termination)/,
  /regression: Performance Provisioning should do simple provisioning$/,
  /StaticCapacity (Provisioning should create static NodeClaims|Deprovisioning should scale down to zero)/,
  /Termination Emptiness should terminate an empty node/,
  /Termination should terminate the node and the instance/,
];

export function isInCiSelection(key: string): boolean {
  return ciSelection.some((specs) => specs.test(key));
}
