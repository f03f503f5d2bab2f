export * from "./compatibility.ts";
export * from "./instance-type.ts";
export * from "./min-values.ts";
export * from "./requirement.ts";
export * from "./requirements.ts";
export * from "./resources.ts";
