import { describe, expect, it } from "vitest";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { forceDeleteAfterMs, forceDeleteGraceSeconds, isForceDeleteDue } from "./force-delete.ts";

const at = (time: string): number => Date.parse(`2026-01-01T${time}Z`);
const pod = (terminationGracePeriodSeconds?: number, deletion?: string): Pod => ({
  metadata: { name: "web", ...(deletion && { deletionTimestamp: `2026-01-01T${deletion}Z` }) },
  spec: { terminationGracePeriodSeconds },
});
const deadlineMs = at("00:10:00");

describe("isForceDeleteDue", () => {
  const cases: readonly [title: string, pod: Pod, now: string, expected: boolean][] = [
    ["has its grace to the second", pod(60), "00:09:00", false],
    ["has less time than its grace", pod(60), "00:09:00.001", true],
    ["has more grace than there ever was", pod(6_000), "00:00:00", true],
    ["has no word on its grace", pod(), "00:20:00", false],
    ["is going, and gone by the deadline", pod(6_000, "00:10:00"), "00:00:00", false],
    ["is going, and gone after the deadline", pod(1, "00:10:01"), "00:00:00", true],
    ["is going, after the deadline, and would not go sooner", pod(30, "00:20:01"), "00:20:00", false],
    ["is going, after the deadline, and could go sooner", pod(30, "00:20:30"), "00:20:00", true],
    ["should be gone, after the deadline", pod(30, "00:20:30"), "00:30:00", false],
  ];
  it.each(cases)("03:T-50 a pod that %s", (_, one, time, expected) =>
    expect(isForceDeleteDue(one, { nowMs: at(time), deadlineMs })).toBe(expected),
  );

  it("03:T-50 nothing is forced without a deadline", () => {
    expect(isForceDeleteDue(pod(6_000), { nowMs: at("00:20:00"), deadlineMs: undefined })).toBe(false);
    expect(forceDeleteAfterMs(pod(6_000), undefined)).toBe(Infinity);
  });
});

it("03:T-51 the grace period is the time left in whole seconds, and never zero", () => {
  const grace = (time: string) => forceDeleteGraceSeconds({ nowMs: at(time), deadlineMs });
  expect(["00:09:00", "00:09:00.001", "00:09:59.5", "00:10:00", "00:20:00"].map(grace)).toEqual([60, 59, 1, 1, 1]);
});
