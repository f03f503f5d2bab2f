import { describe, expect, it } from "vitest";
import { disruptionDifferences, type ExpectedDisruption } from "./compare-disruption.ts";
import { planDisruptionScenario, readScenario, scenariosIn } from "./run.ts";

const folder = "disruption";

describe("plans of the disruption scenarios", () => {
  const names = scenariosIn(folder);

  it("are all there", () => {
    expect(names).toHaveLength(58);
  });

  it.each(names.map((name) => [titleOf(name), name]))("03:%s", async (_, name) => {
    const expected = JSON.parse(readScenario(folder, `${name}.expected.json`)) as ExpectedDisruption;
    const upstream = await planDisruptionScenario(name, "upstream");
    expect(disruptionDifferences(expected, upstream, "strict")).toEqual([]);
    // The controller takes the same path: in this mode it does what the acting method found.
    expect(upstream.next?.method ?? "none").toBe(upstream.acts);
    const acting = upstream.methods.find(({ method }) => method === upstream.acts);
    expect(upstream.next?.commands).toEqual(acting?.commands);
    const usual = await planDisruptionScenario(name, "default");
    expect(disruptionDifferences(expected, usual, "default")).toEqual([]);
  });
});

describe("comparing what disruption would do", () => {
  const expected = JSON.parse(readScenario(folder, "056-fleet.expected.json")) as ExpectedDisruption;
  const passes = (changed: unknown): readonly string[] =>
    (["default", "strict"] as const).filter(
      (level) => disruptionDifferences(expected, changed as ExpectedDisruption, level).length === 0,
    );

  it.each([
    ["itself", (text: string) => text, ["default", "strict"]],
    ["another acting method", (text: string) => text.replace('"acts":"emptiness"', '"acts":"drift"'), []],
    ["another node", (text: string) => text.replace('"nodes":["empty"]', '"nodes":["held"]'), []],
    ["a candidate less", (text: string) => text.replace('"candidates":["old"]', '"candidates":[]'), ["default"]],
    ["another budget", (text: string) => text.replace('"default":5', '"default":4'), ["default"]],
    ["another type", (text: string) => text.replace('["c-8x-amd64-linux"]', '["c-9x-amd64-linux"]'), ["default"]],
    ["another destination", (text: string) => text.replace('"busy":["default/legacy"]', '"busy":[]'), ["default"]],
  ])("%s", (_, change, levels) => {
    expect(passes(JSON.parse(change(JSON.stringify(expected))))).toEqual(levels);
  });
});

/** The first line of a scenario names the rule it exercises. */
function titleOf(name: string): string {
  const [first = ""] = readScenario(folder, `${name}.yaml`).split("\n", 1);
  return `${first.replace(/^# /, "")} (${name})`;
}
