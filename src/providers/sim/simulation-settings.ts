import type { CloudFaultRates } from "./cloud-faults.ts";

/** Both ends included. */
export type MsRange = readonly [least: number, most: number];

/** How the simulated cloud behaves; all randomness comes from its seed. */
export interface SimulationSettings {
  /** From launch until the instance's kubelet creates its Node. */
  readonly bootMs: MsRange;
  /** From then until the Node is ready. */
  readonly readyMs: MsRange;
  /** From the terminate call until the instance is gone. */
  readonly terminateMs: MsRange;
  /** Round trip of every call. */
  readonly latencyMs: MsRange;
  /** The account's quota: how many instances may exist at a time. */
  readonly maxInstances: number;
  /** Random faults; none by default. */
  readonly faults: CloudFaultRates;
}

export const defaultSimulationSettings: SimulationSettings = {
  bootMs: [8_000, 15_000],
  readyMs: [500, 3_000],
  terminateMs: [2_000, 5_000],
  latencyMs: [20, 80],
  maxInstances: 2_000,
  faults: {},
};
