import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { runs } from "../runs.ts";
import { plan, readScenario, scenariosIn } from "./run.ts";

type Json = unknown;

const names = scenariosIn("scheduling").filter((name) => !/^11[23]/.test(name)); // two large ones
const junk: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    null,
    "",
    0,
    -1,
    1.5,
    true,
    [],
    {},
    [null],
    [[]],
    [{}],
    "x".repeat(300),
    "__proto__",
    "-5%",
    "1e999",
    { a: {} },
  ),
  fc.string({ maxLength: 8 }),
  fc.integer(),
);

/** Every place in a value: how to put something else there. */
function places(value: Json, put: (other: Json) => void): readonly ((other: Json) => void)[] {
  if (typeof value !== "object" || value === null) return [put];
  const record = value as Record<string, Json>;
  const below = Object.keys(record).flatMap((key) =>
    places(record[key], (other) => {
      record[key] = other;
    }),
  );
  return [put, ...below];
}

/** Manifests come from people and generators. Whatever they hold, the answer is a plan or a sentence, never a crash. */
describe("plans of broken manifests", () => {
  it("02 §1.5 end with a plan or with findings", { timeout: 600_000 }, async () => {
    const change = fc.tuple(fc.nat(), junk);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...names),
        fc.array(change, { minLength: 1, maxLength: 2 }),
        async (name, changes) => {
          const root = {
            items: parseAllDocuments(readScenario("scheduling", `${name}.yaml`)).map((one) => one.toJS() as Json),
          };
          for (const [at, other] of changes) {
            const all = places(root.items, () => undefined).slice(1);
            all[at % Math.max(1, all.length)]?.(other);
          }
          const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: root.items });
          const { out, err, code } = await plan(["-f", "-", "-o", "json"], { stdin: list });
          expect([0, 1, 3]).toContain(code);
          if (code === 1) expect(err).toMatch(/error/);
          else expect(JSON.parse(out)).toHaveProperty("totals");
        },
      ),
      { numRuns: runs(5_000) },
    );
  });

  it("02 §1.5 a node class reference without a kind is a finding, also where a claim of the pool has none of its own", async () => {
    const pool = {
      ...{ apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name: "default" } },
      spec: { template: { spec: { nodeClassRef: { group: "karpenter.kwok.sh", name: "default" }, requirements: [] } } },
    };
    const labels = { "karpenter.sh/nodepool": "default" };
    const claim = { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata: { name: "a", labels } };
    const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items: [pool, claim] });
    const { err, code } = await plan(["-f", "-", "-o", "json"], { stdin });
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining("nodeClassRef") });
  });
});
