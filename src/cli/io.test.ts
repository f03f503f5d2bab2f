import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemIo } from "./io.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "karpenter-io-"));
  await writeFile(join(folder, "a.yaml"), "0123456789");
});
afterAll(() => rm(folder, { recursive: true }));

it("distinguishes files, directories and missing paths", async () => {
  const { stat, readDir } = systemIo();
  expect(await stat(join(folder, "a.yaml"))).toEqual({ kind: "file", bytes: 10 });
  expect(await stat(folder)).toMatchObject({ kind: "directory" });
  expect(await stat(join(folder, "b.yaml"))).toBeUndefined();
  expect(await stat(join(folder, "a.yaml", "c"))).toBeUndefined();
  expect(await readDir(folder)).toEqual(["a.yaml"]);
});

it("reads one byte more than the limit, so that a larger file is detected", async () => {
  const { readFile } = systemIo();
  expect(Buffer.from(await readFile(join(folder, "a.yaml"), 100)).toString()).toBe("0123456789");
  expect(await readFile(join(folder, "a.yaml"), 9)).toHaveLength(10);
  expect(await readFile(join(folder, "a.yaml"), 3)).toHaveLength(4);
});
