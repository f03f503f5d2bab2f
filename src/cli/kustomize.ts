import type { Io } from "./io.ts";
import { shellQuoted } from "./shell-quoted.ts";

/** The manifests of a kustomize folder, or why there are none. */
export type RenderedFolder = { readonly text: string } | { readonly refused: string };

/** Renders a folder with the kustomize that is part of kubectl. */
export async function renderKustomization(folder: string, io: Pick<Io, "run">): Promise<RenderedFolder> {
  const ran = await io.run("kubectl", ["kustomize", folder]);
  if (ran === undefined) {
    return {
      refused: `kubectl is not installed, and renders kustomize folders; where it is, run kubectl kustomize ${shellQuoted(folder)} > rendered.yaml (or kustomize build), then give -f rendered.yaml`,
    };
  }
  if (ran.exitCode === 0) return { text: ran.stdout };
  const why = ran.stderr
    .trim()
    .split("\n")
    .at(-1)
    ?.replace(/^error: /, "");
  return { refused: `kubectl kustomize ${shellQuoted(folder)} failed: ${why || `exit code ${ran.exitCode}`}` };
}
