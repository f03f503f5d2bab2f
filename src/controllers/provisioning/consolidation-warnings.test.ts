import { expect, it } from "vitest";
import { pod } from "../../../test/builders/pod.ts";
import { recordingLog } from "../../../test/controllers/recording-log.ts";
import { Recently } from "../../kube/recently.ts";
import { VirtualClock } from "../../util/virtual-clock.ts";
import { ConsolidationWarnings } from "./consolidation-warnings.ts";
import type { Desk } from "./parts.ts";

it("02:P-40 a pod is pointed out again after a day, and not before", async () => {
  const clock = new VirtualClock();
  const lines: Parameters<typeof recordingLog>[0] = [];
  const parts = { log: recordingLog(lines), settings: { preferencePolicy: "Respect" } };
  const desk = { parts, warned: new Recently<true>(clock) } as unknown as Desk;
  const wishful = pod().label("app", "a").apart("host", { app: "a" }, { weight: 1 });
  const round = (): void => {
    const warnings = new ConsolidationWarnings(desk);
    warnings.look(wishful.build({ name: "web", uid: "uid", at: 0 }));
    warnings.say();
  };

  round();
  await clock.advance(23 * 3_600_000);
  round();
  expect(lines).toHaveLength(1);

  await clock.advance(3_600_000);
  round();
  expect(lines).toHaveLength(2);
});
