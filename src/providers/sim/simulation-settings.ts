import type { CloudFaultRates } from "./cloud-faults.ts";

/** From and to, both possible. */
export type MsRange = readonly [least: number, most: number];

/** How the simulated cloud behaves. All that is drawn is drawn from its seed. */
export interface SimulationSettings {
  /** From launch until a machine's kubelet makes its Node. */
  readonly bootMs: MsRange;
  /** From then until the Node is ready. */
  readonly readyMs: MsRange;
  /** From the order to end a machine until it is gone. */
  readonly terminateMs: MsRange;
  /** Of every call, there and back. */
  readonly latencyMs: MsRange;
  /** What goes wrong by itself; nothing, unless said. */
  readonly faults: CloudFaultRates;
}

export const defaultSimulationSettings: SimulationSettings = {
  bootMs: [8_000, 15_000],
  readyMs: [500, 3_000],
  terminateMs: [2_000, 5_000],
  latencyMs: [20, 80],
  faults: {},
};
