export * from "./catalogue.ts";
export { ec2OfferChooser } from "./ec2-offer-chooser.ts";
export { type Ec2InstanceTypeInfo, type EmbeddedInstanceTypeInfo, ec2InstanceTypeInfos } from "./instance-type-info.ts";
export { largerStorage } from "./node-class/larger-storage.ts";
export * from "./node-class-settings.ts";
export * from "./node-settings.ts";
export * from "./prices.ts";
export * from "./region-names.ts";
export { defaultRegion, knownRegions, type Region, type Zone } from "./regions.ts";
