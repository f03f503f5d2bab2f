import { homedir } from "node:os";
import type { Command } from "commander";
import type { Io } from "../io.ts";
import { type Completion, complete } from "./complete.ts";

/**
 * Prints what can follow, for the scripts of `karpenter completion`: one candidate a line with its description after a
 * tab, and at the end `:files` or `:folders` if the shell completes those itself.
 */
export async function runComplete(program: Command, words: readonly string[], io: Io): Promise<void> {
  const { candidates, paths, contexts, objects } = complete(program, words);
  const typed = words.at(-1) ?? "";
  const names = contexts === undefined ? [] : await contextNames(contexts.kubeconfig, io);
  const prefix = /^(--[^=]+=)/.exec(typed)?.[1] ?? "";
  const looked = [
    ...names.map((name) => ({ value: `${prefix}${name}`, description: "" })),
    ...(objects === undefined ? [] : await objectCandidates(objects, io)),
  ];
  const matching = looked.filter(({ value }) => typed === "=" || value.startsWith(typed));
  const lines = [...candidates, ...matching].map(({ value, description }) =>
    description === "" ? value : `${value}\t${description.replace(/\s+/g, " ")}`,
  );
  io.stdout([...lines, ...(paths === undefined ? [] : [`:${paths}`]), ""].join("\n"));
}

async function objectCandidates({ after, ...wanted }: NonNullable<Completion["objects"]>, io: Io) {
  const { objectNames } = await import("./object-names.ts"); // only for words that need it: it opens connections
  const names = await objectNames(wanted, io);
  return names.map(({ name, description }) => ({ value: `${after}${name}`, description }));
}

async function contextNames(path: string | undefined, io: Io): Promise<readonly string[]> {
  const [{ kubeContexts }, { systemHostEnvironment }] = await Promise.all([
    import("../../kube/kubeconfig.ts"),
    import("../../kube/host-environment.ts"),
  ]);
  const environment = systemHostEnvironment({ env: io.env, homeDir: homedir() });
  return kubeContexts({ environment, path }).catch(() => []); // nobody wants an error while typing
}
