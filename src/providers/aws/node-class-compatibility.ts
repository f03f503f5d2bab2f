import type { Ec2InstanceTypeInfo } from "./instance-type-info.ts";
import type { NodeSettings } from "./node-settings.ts";

/** Whether instances of the type can be launched with the settings of a node class. (04 §2.5) */
export function isCompatibleWithNodeClass(
  typeInfo: Ec2InstanceTypeInfo,
  settings: NodeSettings,
  placementStrategy?: string,
): boolean {
  if (settings.amiFamily === "AL2023" && typeInfo.familyName === "a1") return false;
  if (settings.tracksConnections && typeInfo.hypervisor !== "nitro") return false;
  // What is not known of an embedded type is not held against it.
  if (settings.nestsVirtualization && typeInfo.supportsNestedVirtualization === false) return false;
  if (placementStrategy !== undefined && typeInfo.placementStrategies?.includes(placementStrategy) === false) {
    return false;
  }
  return supportsNetworkInterfaces(typeInfo, settings);
}

function supportsNetworkInterfaces(typeInfo: Ec2InstanceTypeInfo, { networkInterfaces }: NodeSettings): boolean {
  if (networkInterfaces.length === 0) return true;
  const efaOnly = networkInterfaces.filter(({ interfaceType }) => interfaceType === "efa-only");
  return (
    typeInfo.supportsEna &&
    typeInfo.ipv4PerEni >= 1 && // the interface itself has an address
    efaOnly.length <= typeInfo.efas &&
    networkInterfaces.every(({ networkCardIndex, deviceIndex }) => {
      if (networkCardIndex >= typeInfo.networkCards.length) return false;
      return deviceIndex < (typeInfo.networkCards[networkCardIndex] ?? Number.POSITIVE_INFINITY);
    })
  );
}
