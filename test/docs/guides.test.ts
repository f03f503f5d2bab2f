import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { expect, it } from "vitest";
import { program } from "../../src/cli/main.ts";
import { fakeIo } from "../conversion/fake-io.ts";

const docs = join(import.meta.dirname, "..", "..", "docs");
const guides = readdirSync(join(docs, "guides"))
  .map((file) => readFileSync(join(docs, "guides", file), "utf8"))
  .join("\n");
const reference = readFileSync(join(docs, "cli.md"), "utf8");

const commands = (function withPath(command: Command, path: string): readonly (readonly [string, Command])[] {
  return [[path, command], ...command.commands.flatMap((one) => withPath(one, `${path} ${one.name()}`))];
})(program(fakeIo()), "karpenter");

it.each(commands)("%s has a section in the reference and is in a guide", (path) => {
  expect(reference).toContain(`\n## ${path}\n`);
  expect(guides).toContain(path);
});

it.each(commands)("every option of %s is in a guide", (_, command) => {
  const isKnown = ({ long, short }: Command["options"][number]): boolean =>
    [long, short].some((flag) => flag != null && new RegExp(`(?<![\\w-])${flag}(?![\\w-])`).test(guides));
  expect(command.options.filter((option) => !option.hidden && !isKnown(option)).map(({ flags }) => flags)).toEqual([]);
});
