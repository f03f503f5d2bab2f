import { expect, it } from "vitest";
import { isLongTier } from "../../runs.ts";
import { runScenario, type ScenarioOutcome } from "./scenario.ts";

const size = isLongTier ? { nodes: 200, pods: 3_000, quietSeconds: 1_800 } : { nodes: 8, pods: 50, quietSeconds: 300 };

/** Where two runs part, or undefined. */
function firstDifference(a: ScenarioOutcome, b: ScenarioOutcome): string | undefined {
  const at = a.lines.findIndex((line, index) => line !== b.lines[index]);
  if (at < 0) return a.lines.length === b.lines.length ? undefined : `after ${a.lines.length} writes`;
  return `write ${at}: ${a.lines[at]} | ${b.lines[at]}`;
}

it(`05:CP-T3 ${size.nodes} nodes, ${size.pods} pods, rollouts, drains, faults: one seed, one event log`, async () => {
  const first = await runScenario({ seed: "one", ...size });
  const second = await runScenario({ seed: "one", ...size });
  expect(firstDifference(first, second)).toBeUndefined();
  expect(second.fingerprint).toBe(first.fingerprint);
  const other = await runScenario({ seed: "two", ...size });
  expect(other.fingerprint).not.toBe(first.fingerprint);

  expect(first.surprises).toEqual([]);
  expect([...first.faults.keys()].sort()).toEqual(
    expect.arrayContaining(["call conflict", "call server-error", "crash"]),
  );
  expect(first.unsettled).toEqual([]);
  expect(first.running).toBeGreaterThan(size.pods * 0.5);
  process.stdout.write(
    `${first.writes} writes of ${first.kinds.join(", ")}; ${first.running} pods run; ` +
      `faults ${JSON.stringify(Object.fromEntries(first.faults))}; ${first.fingerprint.slice(0, 16)}\n`,
  );
}, 600_000);
