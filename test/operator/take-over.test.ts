import { expect, it } from "vitest";
import { embeddedCluster } from "../stories/embedded-cluster.ts";
import { goOn, takeOver } from "./take-over.ts";
import { leaveBehind } from "./upstream-leftovers.ts";

const hour = 3_600;

it("01 §6.3 03 §6.5 takes over from the Go implementation, changes nothing for hours, and goes on", async () => {
  const stage = await embeddedCluster({
    instanceKind: "nodes",
    settings: { minValuesPolicy: "BestEffort" },
    before: leaveBehind,
  });
  const begunAt = stage.now();
  await takeOver(stage, { quietSeconds: 6 * hour });
  expect(stage.now() - begunAt).toBeGreaterThan(6 * hour * 1_000);
  await goOn(stage);
  await stage.close();
});
