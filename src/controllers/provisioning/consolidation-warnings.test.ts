import { expect, it } from "vitest";
import { pod } from "../../../test/builders/pod.ts";
import { recordingLog } from "../../../test/world/recording-log.ts";
import { ExpiringMap } from "../../util/expiring-map.ts";
import { VirtualClock } from "../../util/virtual-clock.ts";
import { defaultSettings } from "../settings.ts";
import { ConsolidationWarnings } from "./consolidation-warnings.ts";

it("02:P-40 a pod is pointed out again after a day, and not before", async () => {
  const clock = new VirtualClock();
  const lines: Parameters<typeof recordingLog>[0] = [];
  const warnedPods = new ExpiringMap<true>(clock);
  const context = { log: recordingLog(lines), settings: defaultSettings };
  const wishful = pod().label("app", "a").apart("host", { app: "a" }, { weight: 1 });
  const round = (): void => {
    const warnings = new ConsolidationWarnings(warnedPods, context);
    warnings.check(wishful.build({ name: "web", uid: "uid", at: 0 }));
    warnings.log();
  };

  round();
  await clock.advance(23 * 3_600_000);
  round();
  expect(lines).toHaveLength(1);

  await clock.advance(3_600_000);
  round();
  expect(lines).toHaveLength(2);
});
