export * from "./catalogue.ts";
export * from "./catalogue-export.ts";
export * from "./catalogue-file.ts";
export * from "./fake-catalogue.ts";
export { type KwokTypeSpec, kwokInstanceType, kwokOverhead, withOfferingKeys } from "./kwok-instance-type.ts";
