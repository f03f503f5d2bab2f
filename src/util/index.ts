export * from "./bitset.ts";
export * from "./clock.ts";
export * from "./duration.ts";
export * from "./freeze.ts";
export * from "./heap.ts";
export * from "./quantity.ts";
export * from "./random.ts";
export * from "./virtual-clock.ts";
