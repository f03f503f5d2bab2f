export * from "./catalogue.ts";
export * from "./catalogue-export.ts";
export * from "./catalogue-file.ts";
export * from "./fake-catalogue.ts";
export { type KwokType, kwokInstanceType, kwokOverhead, withOfferingKeys } from "./instance-type.ts";
