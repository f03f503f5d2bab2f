import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { explain } from "./run.ts";

const path = join(import.meta.dirname, "..", "..", "docs", "guides", "explain.md");
const guide = readFileSync(path, "utf8");

/** Files of the guide: yaml blocks whose first line is their name. */
const files = Object.fromEntries(
  [...guide.matchAll(/```yaml\n# (\S+)\n([\s\S]*?)```/g)].map(([, name = "", text = ""]) => [name, text]),
);

const examples = [...guide.matchAll(/```console\n\$ karpenter explain (.*)\n([\s\S]*?)```/g)].map(
  ([block, command = "", output = ""]) => ({ block, command, output }),
);

vi.setConfig({ testTimeout: 30_000 }); // the first test waits for the catalogue to be loaded

describe("docs/guides/explain.md", () => {
  it("has three worked examples and more", () => {
    expect(examples.length).toBeGreaterThanOrEqual(3);
  });

  it.each(examples)("shows what really comes of: explain $command", async ({ block, command, output }) => {
    const ran = await explain(command.split(" "), { files });
    if (process.env["WRITE_GUIDE"] === "1") {
      const written = readFileSync(path, "utf8");
      writeFileSync(
        path,
        written.replace(block, () => `\`\`\`console\n$ karpenter explain ${command}\n${ran.out}\`\`\``),
      );
      return;
    }
    expect([ran.err, ran.out]).toEqual(["", output]);
  });
});
