import { expect, it } from "vitest";
import { isLongTier } from "../runs.ts";
import { embeddedCluster } from "../stories/embedded-cluster.ts";
import { goOn, takeOver } from "./take-over.ts";
import { leaveBehind } from "./upstream-leftovers.ts";

const hour = 3_600;
const quietSeconds = (isLongTier ? 6 : 1) * hour;

it("01 §6.3 03 §6.5 takes over from the Go implementation, changes nothing for long, and goes on", async () => {
  const stage = await embeddedCluster({
    instanceKind: "nodes",
    settings: { minValuesPolicy: "BestEffort" },
    before: leaveBehind,
  });
  const begunAt = stage.now();
  await takeOver(stage, { quietSeconds });
  expect(stage.now() - begunAt).toBeGreaterThan(quietSeconds * 1_000);
  await goOn(stage);
  await stage.close();
});
