import type { FaultRates } from "./faults.ts";

/** From and to, both possible. */
export type Range = readonly [least: number, most: number];

/** How the simulated cloud behaves. All that is drawn is drawn from its seed. */
export interface SimulationSettings {
  /** From launch until a machine's kubelet makes its Node. */
  readonly bootMs: Range;
  /** From then until the Node is ready. */
  readonly readyMs: Range;
  /** From the order to end a machine until it is gone. */
  readonly terminateMs: Range;
  /** Of every call, there and back. */
  readonly latencyMs: Range;
  /** What goes wrong by itself; nothing, unless said. */
  readonly faults: FaultRates;
}

export const defaultSimulation: SimulationSettings = {
  bootMs: [8_000, 15_000],
  readyMs: [500, 3_000],
  terminateMs: [2_000, 5_000],
  latencyMs: [20, 80],
  faults: {},
};
