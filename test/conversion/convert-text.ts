import { readFileSync } from "node:fs";
import { readManifests } from "../../src/api/manifest/read.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { convertCommand } from "../../src/cli/convert-command.ts";
import { fakeIo } from "./fake-io.ts";

export function manifestText(name: string): string {
  return readFileSync(new URL(`../fixtures/manifests/${name}.yaml`, import.meta.url), "utf8");
}

/** What `karpenter convert` makes of a file: its objects, what it wrote to standard error, and its exit code. */
export async function convertText(text: string, ...args: readonly string[]) {
  const io = fakeIo({ files: { "old.yaml": text } });
  await convertCommand(io).parseAsync(["-f", "old.yaml", ...args], { from: "user" });
  const { documents } = readManifests(io.out(), "new.yaml");
  return {
    objects: documents.map(({ object }) => object as KubeObject),
    err: io.err(),
    code: io.code() ?? 0,
  };
}
