import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const exported = Object.keys(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).exports as object);

it("the example of the library runs as its page says", async () => {
  const alias = Object.fromEntries(
    exported.map((path) => [`karpenter-ts${path.slice(1)}`, join(root, "src", path, "index.ts")]),
  );
  const { outputFiles } = await build({
    entryPoints: [join(root, "examples", "library", "plan.ts")],
    ...{ bundle: true, write: false, platform: "node", format: "esm", target: "node20", alias },
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  const input = outputFiles[0]?.text;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module"], {
    input,
    cwd: root,
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  const guide = readFileSync(join(root, "docs", "guides", "library.md"), "utf8");
  expect(stdout).toMatch(/^NodePool default: /);
  expect(guide).toContain(`\`\`\`\n${stdout}\`\`\``);
  const source = readFileSync(join(root, "examples", "library", "plan.ts"), "utf8");
  for (const [, name = ""] of source.matchAll(/from "karpenter-ts\/([^"]+)"/g)) expect(exported).toContain(`./${name}`);
});
