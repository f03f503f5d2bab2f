import { expect, it } from "vitest";
import { Quantity } from "../../util/quantity.ts";
import { runSteps } from "../../util/steps.ts";
import { ResourceSpace } from "./resource-space.ts";

const list = (cpu: string) => ({ cpu: Quantity.parse(cpu) });

it.each([
  ["2", 2, 2],
  ["1500m", 2, 1],
  ["1", 1, 1],
  ["0", 0, 0],
  ["-1500m", -1, -2],
  ["-2", -2, -2],
])(
  "02:A-13 between two units %s is %d as a request and %d as capacity: what fits in numbers fits",
  (cpu, asked, held) => {
    const space = runSteps(ResourceSpace.create([list("1")]));
    expect([...space.requestRow(list(cpu))]).toEqual([asked]);
    expect([...space.capacityRow(list(cpu))]).toEqual([held]);
  },
);

it("02:A-13 counts in the coarsest unit in which every amount is whole", () => {
  const space = runSteps(ResourceSpace.create([list("1"), list("250m"), list("2")]));
  expect([...space.requestRow(list("2"))]).toEqual([2_000]);
  expect([...space.capacityRow(list("250m"))]).toEqual([250]);
  expect(space.toResources(space.requestRow(list("250m")))["cpu"]?.canonical()).toBe("250m");
  expect([space.indexOf("cpu"), space.indexOf("memory"), space.size]).toEqual([0, -1, 1]);
});
