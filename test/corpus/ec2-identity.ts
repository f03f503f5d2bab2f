import type { Case } from "./case.ts";
import { accept, acceptUpdate, field, refuse } from "./ec2-table.ts";

/** Who nodes are: a role, or an instance profile. (01:EC12) */
export const identityCases: readonly Case[] = [
  accept("01:EC12 a role alone", {}),
  accept("01:EC12 an instance profile alone", { "spec.role": undefined, "spec.instanceProfile": "nodes" }),
  accept("01 §0.1 null for the other one counts as absent", { "spec.instanceProfile": null }),
  refuse("01:EC12 role and instance profile", { "spec.instanceProfile": "nodes" }),
  refuse("01:EC12 neither role nor instance profile", { "spec.role": undefined }),
  refuse("01:EC12 null for role counts as absent", { "spec.role": null }),
  refuse("01:EC12 an empty role", { "spec.role": "" }),
  refuse("01:EC12 an empty instance profile", { "spec.role": undefined, "spec.instanceProfile": "" }),
  refuse("01:EC12 an empty instance profile beside a role", { "spec.instanceProfile": "" }),
];

const profile = { "spec.role": undefined, "spec.instanceProfile": "nodes" };

/** Nothing about an EC2NodeClass is immutable: changes drift nodes instead. */
export const identityUpdateCases: readonly Case[] = [
  acceptUpdate("01:EC12 another role", {}, { "spec.role": "other" }),
  acceptUpdate("01:EC12 another instance profile", profile, { ...profile, "spec.instanceProfile": "other" }),
  acceptUpdate("01:EC12 from role to instance profile", {}, profile),
  acceptUpdate("01:EC12 from instance profile to role", profile, {}),
];

export const userDataCases: readonly Case[] = field("spec.userData").accepts({
  "01 §1.6.1 userData empty": "",
  "01 §1.6.1 userData of several lines": "#!/bin/bash\necho started\n",
  "01 §1.6.1 userData absent": undefined,
});

/** `spec` itself is not required, though three fields inside it are. (01 §1.6) */
export const wholeSpecCases: readonly Case[] = [
  accept("01 §1.6 no spec at all", { spec: undefined }, { stored: { spec: undefined } }),
  accept("01 §0.1 null for spec counts as absent", { spec: null }, { stored: { spec: undefined } }),
  accept(
    "01 §0.1 unknown fields are dropped",
    { "spec.launchTemplate": "mine" },
    { stored: { "spec.launchTemplate": undefined } },
  ),
  refuse("01 §1.6 an empty spec", { spec: {} }),
  refuse("01 §1.6.1 no subnetSelectorTerms", { "spec.subnetSelectorTerms": undefined }),
  refuse("01 §1.6.1 no securityGroupSelectorTerms", { "spec.securityGroupSelectorTerms": undefined }),
  refuse("01 §1.6.1 no amiSelectorTerms", { "spec.amiSelectorTerms": undefined }),
  refuse("01 §0.1 null for subnetSelectorTerms counts as absent", { "spec.subnetSelectorTerms": null }),
];
