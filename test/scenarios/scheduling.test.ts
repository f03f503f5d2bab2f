import { describe, expect, it } from "vitest";
import { differences, type Expected } from "./compare.ts";
import { planScenario, readScenario, scenariosIn } from "./run.ts";

const folder = "scheduling";

describe("plans of the scheduling scenarios", () => {
  const names = scenariosIn(folder);

  it("are all there", () => {
    expect(names).toHaveLength(127);
  });

  it.each(names.map((name) => [titleOf(name), name]))("02:%s", async (_, name) => {
    const expected = JSON.parse(readScenario(folder, `${name}.expected.json`)) as Expected;
    const actual = await planScenario(folder, name);
    expect(differences(expected, actual, "strict")).toEqual([]);
    expect(differences(expected, actual, "exact")).toEqual([]);
  });
});

/** The first line of a scenario names the rule it exercises. */
function titleOf(name: string): string {
  const [first = ""] = readScenario(folder, `${name}.yaml`).split("\n", 1);
  return `${first.replace(/^# /, "")} (${name})`;
}
