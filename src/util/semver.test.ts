import { describe, expect, it } from "vitest";
import { Semver } from "./semver.ts";

const version = (text: string): Semver => Semver.parse(text) as Semver;

describe("semantic versions", () => {
  it("are ordered as semver.org says", () => {
    const ordered =
      "1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 1.0.1 1.2.0 10.0.0";
    const versions = ordered.split(" ").map(version);
    for (const [a, left] of versions.entries())
      for (const [b, right] of versions.entries()) expect(left.compare(right)).toBe(Math.sign(a - b));
  });

  it("do not differ by build metadata", () => {
    expect(version("1.0.0+a").compare(version("1.0.0+b"))).toBe(0);
  });

  it.each(["1", "1.2", "01.2.3", "v1.2.3", "1.2.3-", "1.2.3-01", "", "1.2.3.4"])("%j is none", (text) => {
    expect(Semver.parse(text)).toBeUndefined();
  });

  it.each([
    ["v1.2.3", "1.2.3"],
    ["1", "1.0.0"],
    ["1.2-rc", "1.2.0-rc"],
    ["01.002.3", "1.2.3"],
  ])("%j is %s to the tolerant", (text, same) => {
    expect(Semver.parseTolerantly(text)?.compare(version(same))).toBe(0);
  });
});
