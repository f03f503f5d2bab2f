import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../test/runs.ts";
import { isKubeError } from "../../../kube/kube-error.ts";
import { parseLabelSelector, type SelectorLabels } from "./label-selector.ts";

describe("label selectors (05 §3)", () => {
  const labels: SelectorLabels = { app: "web", tier: "a", "example.com/size": "10", empty: "" };
  const cases: readonly (readonly [selector: string, matches: boolean])[] = [
    ["", true],
    ["app=web", true],
    ["app==web", true],
    ["app=api", false],
    ["app!=api", true],
    ["missing!=x", true],
    ["app", true],
    ["missing", false],
    ["!missing", true],
    ["!app", false],
    ["empty=", true],
    ["app in (api, web)", true],
    ["app in (api)", false],
    ["app notin (api,db)", true],
    ["missing notin (x)", true],
    ["missing in (x)", false],
    ["example.com/size>9", true],
    ["example.com/size<9", false],
    ["app=web,tier=b", false],
    [" app = web , tier in ( a ) ", true],
    ["constructor", false],
    ["!__proto__", false],
  ];
  it.each(cases.filter(([selector]) => selector !== "!__proto__"))("%s → %s", (selector, matches) => {
    expect(parseLabelSelector(selector)(labels)).toBe(matches);
  });

  it.each(["a in (", "a in b", "=x", "a=b=c", "a b", "a,,b", "(a)", "a!", "-a", "a in ()b", "a>x", "!__proto__", "é"])(
    "05:CP-S3 %s is a bad request",
    (selector) => {
      expect(() => parseLabelSelector(selector)).toThrow(
        expect.objectContaining({ code: "bad-request" }) as unknown as Error,
      );
    },
  );

  it("05:CP-S3 any text is either parsed or a bad request", () => {
    const letters = fc.string({
      unit: fc.constantFrom("a", "b", "=", "!", "(", ")", ",", " ", "in", "notin", "<", "/"),
    });
    const property = fc.property(fc.oneof(letters, fc.string()), (text) => {
      try {
        return typeof parseLabelSelector(text)(labels) === "boolean";
      } catch (error) {
        return isKubeError(error, "bad-request");
      }
    });
    fc.assert(property, { numRuns: runs(20_000) });
  });

  it("05:CP-S3 reads a long selector in one pass", () => {
    const selector = Array.from({ length: 20_000 }, (_, i) => `k${i} in (a,b)`).join(",");
    const started = performance.now();
    expect(parseLabelSelector(selector)(labels)).toBe(false);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
