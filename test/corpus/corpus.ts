import type { Provider } from "../../src/api/label-policy.ts";
import { capacityBufferCases } from "./capacity-buffer.ts";
import type { Case } from "./case.ts";
import { ec2NodeClassCases } from "./ec2-node-class.ts";
import { kwokNodeClassCases } from "./kwok-node-class.ts";
import { metadataCases } from "./metadata.ts";
import { nodeClaimCases } from "./node-claim.ts";
import { nodeOverlayCases } from "./node-overlay.ts";
import { nodePoolCases } from "./node-pool.ts";

/** Every case, in both tiers: tier 1 asks our admission, tier 3 asks a real API server. */
export const corpus: readonly Case[] = [
  ...metadataCases,
  ...nodePoolCases,
  ...nodeClaimCases,
  ...nodeOverlayCases,
  ...capacityBufferCases,
  ...kwokNodeClassCases,
  ...ec2NodeClassCases,
];

export function holdsUnder({ providers }: Case, provider: Provider): boolean {
  return providers === undefined || providers.includes(provider);
}
