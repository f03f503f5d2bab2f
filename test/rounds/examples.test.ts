import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/api/object.ts";
import { isLongTier } from "../runs.ts";
import { differenceFromPlans } from "./compare-inputs.ts";

const folder = join(import.meta.dirname, "..", "..", "examples", "blueprints");
const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
const region = "us-east-1";

/** Nothing is disrupted: what is played is what provisioning makes. */
const disruption = { consolidationPolicy: "WhenEmpty", consolidateAfter: "Never", budgets: [{ nodes: "0" }] };

function blueprint(file: string): readonly KubeObject[] {
  const documents = parseAllDocuments(readFileSync(join(folder, file), "utf8"));
  return documents.map((document) => {
    const object = document.toJS() as KubeObject;
    return object.kind === "NodePool" ? { ...object, spec: { ...(object.spec as object), disruption } } : object;
  });
}

describe("blueprints in examples/", () => {
  it.each(files.filter((_, index) => isLongTier || index % 3 === 0))(
    "02:P-30 %s ends with the nodes and refusals of its plan",
    { timeout: 120_000 },
    async (file) => {
      const objects = blueprint(file);
      const args = objects.some(({ kind }) => kind === "EC2NodeClass") ? ["--region", region] : [];
      expect(await differenceFromPlans(objects, { seed: file, region, args })).toBeUndefined();
    },
  );

  it("has at least twelve, and the README names each", () => {
    const readme = readFileSync(join(folder, "..", "README.md"), "utf8");
    expect(files.length).toBeGreaterThanOrEqual(12);
    expect(files.filter((file) => !readme.includes(`(blueprints/${file})`))).toEqual([]);
  });
});
