import type { Case } from "./case.ts";
import { blockDeviceCases, volumeSizeCases } from "./ec2-disks.ts";
import { identityCases, identityUpdateCases, userDataCases, wholeSpecCases } from "./ec2-identity.ts";
import { aliasCases, aliasFamilyCases, familyCases, imageTermCases } from "./ec2-images.ts";
import { connectionTrackingCases, networkInterfaceCases } from "./ec2-network.ts";
import { capacityReservationCases, placementGroupCases, securityGroupCases, subnetCases } from "./ec2-selectors.ts";
import { cpuOptionCases, kubeletCases, metadataOptionCases, otherSettingCases, tagCases } from "./ec2-settings.ts";
import { statusCases, statusTypeCases } from "./ec2-status.ts";
import { wrongTypeCases } from "./ec2-types.ts";

/** The cases by the groups of the checklist in 01 §8.3, then what it does not list. */
export const ec2NodeClassGroups = {
  identity: identityCases,
  userData: userDataCases,
  families: familyCases,
  aliasFamilies: aliasFamilyCases,
  tags: tagCases,
  subnets: subnetCases,
  securityGroups: securityGroupCases,
  capacityReservations: capacityReservationCases,
  images: [...imageTermCases, ...aliasCases],
  kubelet: kubeletCases,
  metadataOptions: metadataOptionCases,
  blockDevices: [...blockDeviceCases, ...volumeSizeCases],
  networkInterfaces: networkInterfaceCases,
  connectionTracking: connectionTrackingCases,
  identityUpdates: identityUpdateCases,
  cpuOptions: cpuOptionCases,
  placementGroups: placementGroupCases,
  otherSettings: otherSettingCases,
  wholeSpec: wholeSpecCases,
  wrongTypes: wrongTypeCases,
  status: statusCases,
  statusTypes: statusTypeCases,
} as const satisfies Record<string, readonly Case[]>;

/** Its schema is the same under every provider; two of them are asked, to keep the run short. */
export const ec2NodeClassCases: readonly Case[] = Object.values(ec2NodeClassGroups)
  .flat()
  .map((one) => ({ ...one, providers: ["aws", "all"] }));
