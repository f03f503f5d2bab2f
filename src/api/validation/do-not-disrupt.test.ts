import { describe, expect, it } from "vitest";
import { annotations } from "../labels.ts";
import {
  isNodeProtected,
  isPodProtected,
  type ProtectablePod,
  podProtection,
  protectionEvents,
} from "./do-not-disrupt.ts";

const start = "2026-06-16T12:00:00Z";
const startMs = Date.parse(start);
const annotated = (value: string) => ({ annotations: { [annotations.doNotDisrupt]: value } });
const pod = (value: string, status: ProtectablePod["status"] = { startTime: start }): ProtectablePod => ({
  metadata: annotated(value),
  status,
});

describe("do-not-disrupt", () => {
  it("01 §3.2.1 without the annotation nothing is protected", () => {
    expect(podProtection({ metadata: {} }, startMs)).toEqual({ kind: "none" });
    expect(isPodProtected({ metadata: {} }, startMs)).toBe(false);
  });

  it("01 §3.2.1 true protects forever", () => {
    expect(podProtection(pod("true"), startMs + 1e12)).toEqual({ kind: "forever" });
  });

  it.each([
    ["30m", 30 * 60_000],
    ["1h30m", 90 * 60_000],
    ["1.5h", 90 * 60_000],
    ["500ms", 500],
  ])("01 §3.2.1 %s protects that long from the pod's start", (value, ms) => {
    const endMs = startMs + ms;
    expect(podProtection(pod(value), endMs - 1)).toEqual({ kind: "until", untilMs: endMs });
    expect(podProtection(pod(value), endMs)).toEqual({ kind: "elapsed", sinceMs: endMs });
    expect(isPodProtected(pod(value), endMs - 1)).toBe(true);
    expect(isPodProtected(pod(value), endMs)).toBe(false);
  });

  it("01 §3.2.1 a pod that has not started is protected", () => {
    expect(podProtection(pod("1m", {}), startMs)).toEqual({ kind: "until", untilMs: undefined });
    expect(isPodProtected(pod("1m", undefined), startMs)).toBe(true);
  });

  it.each(["false", "", "0s", "0", "-5m", "yes", "True", "TRUE", "10", "1d"])(
    "01 §3.2.1 %j is ignored with a warning",
    (value) => {
      const outcome = podProtection(pod(value), startMs);
      expect(outcome).toEqual({ kind: "invalid", value });
      expect(protectionEvents.invalid).toEqual({ type: "Warning", reason: "InvalidDoNotDisruptAnnotation" });
      expect(isPodProtected(pod(value), startMs)).toBe(false);
    },
  );

  it("01 §3.2.1 finished and leaving pods hold nothing back", () => {
    expect(isPodProtected(pod("true", { phase: "Running" }), startMs)).toBe(true);
    expect(isPodProtected(pod("true", { phase: "Succeeded" }), startMs)).toBe(false);
    expect(isPodProtected(pod("true", { phase: "Failed" }), startMs)).toBe(false);
    expect(isPodProtected({ metadata: { ...annotated("true"), deletionTimestamp: start } }, startMs)).toBe(false);
  });

  it("01 §9.11 a node understands only the word true", () => {
    expect(isNodeProtected({ metadata: annotated("true") })).toBe(true);
    for (const value of ["1h", "True", "false", ""])
      expect(isNodeProtected({ metadata: annotated(value) })).toBe(false);
    expect(isNodeProtected({ metadata: {} })).toBe(false);
  });
});
