export * from "./catalogue.ts";
export * from "./class-settings.ts";
export { type Machine, machines } from "./families.ts";
export * from "./node-settings.ts";
export * from "./prices.ts";
export { defaultRegion, knownRegions, type Region, type Zone } from "./regions.ts";
