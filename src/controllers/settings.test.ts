import { describe, expect, it } from "vitest";
import { defaultSettings, nominationMs, scaledConcurrency } from "./settings.ts";

const of = (cpuRequestsMilli: number, range = { min: 1_000, max: 5_000 }): number =>
  scaledConcurrency(range, { cpuRequestsMilli });

describe("how many keys are reconciled at a time", () => {
  it("03 §8.5 is the minimum with one core", () => {
    expect([of(1), of(500), of(1_000)]).toEqual([1_000, 1_000, 1_000]);
  });

  it("03 §8.5 grows with every started core", () => {
    expect(of(1_001)).toBe(1_067);
    expect(of(2_000)).toBe(1_067);
    expect(of(3_000)).toBe(1_135);
    expect(of(30_000)).toBe(2_966);
  });

  it("03 §8.5 is the maximum with sixty cores and more", () => {
    expect([of(60_000), of(600_000)]).toEqual([5_000, 5_000]);
  });

  it("03 §8.5 is never less than the minimum, whatever was requested", () => {
    expect([of(0), of(-1_000)]).toEqual([1_000, 1_000]);
    expect(of(60_000, { min: 10, max: 10 })).toBe(10);
  });
});

it("02:S-30 a nomination lasts for two batches, ten seconds at least", () => {
  expect(nominationMs({ batchMaxMs: 10_000 })).toBe(20_000);
  expect(nominationMs({ batchMaxMs: 1_000 })).toBe(10_000);
});

it("03 §6.4 settings have the defaults of the options' table", () => {
  expect(defaultSettings).toMatchObject({
    batchIdleMs: 1_000,
    batchMaxMs: 10_000,
    preferencePolicy: "Respect",
    minValuesPolicy: "Strict",
    ignoreDraRequests: true,
    cpuRequestsMilli: 1_000,
    launchTimeoutMs: 300_000,
    registrationTimeoutMs: 900_000,
    gates: {
      NodeRepair: false,
      ReservedCapacity: true,
      SpotToSpotConsolidation: false,
      MultiReplacement: false,
      NodeOverlay: false,
      StaticCapacity: false,
      CapacityBuffer: false,
    },
  });
});
