import { describe, expect, it } from "vitest";
import { verdictIn } from "./spec.ts";

const spec = (State: string, Message?: string) => ({
  LeafNodeType: "It",
  LeafNodeText: "works",
  ContainerHierarchyTexts: ["A"],
  State,
  ...(Message && { Failure: { Message } }),
});
const report = (...SpecReports: readonly object[]) =>
  JSON.stringify([{ SpecReports: [{ ...spec("passed"), LeafNodeType: "BeforeSuite" }, ...SpecReports] }]);

describe("the verdict in a Ginkgo report", () => {
  it("is that of the one spec that was not skipped", () => {
    expect(verdictIn(report(spec("skipped"), spec("passed"), spec("pending")))).toEqual({ verdict: "pass" });
  });

  it("says why a spec failed or that its time was up", () => {
    expect(verdictIn(report(spec("failed", "expected\n  2 nodes")))).toEqual({
      verdict: "fail",
      failure: "expected 2 nodes",
    });
    expect(verdictIn(report(spec("timedout", "a timeout")))).toEqual({ verdict: "timeout", failure: "a timeout" });
    expect(verdictIn(report(spec("panicked"))).verdict).toBe("fail");
  });

  it("is no pass when none ran, several ran, or there is no report", () => {
    const verdicts = [report(), report(spec("skipped")), report(spec("passed"), spec("passed")), ""].map(
      (text) => verdictIn(text).verdict,
    );
    expect(verdicts).toEqual(["fail", "fail", "fail", "fail"]);
  });
});
