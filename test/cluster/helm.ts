import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/api/object.ts";

const run = promisify(execFile);
const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));

export interface Helm {
  readonly lint: (chart: string, ...args: readonly string[]) => Promise<string>;
  /** The objects a chart renders to in namespace karpenter. */
  readonly template: (chart: string, ...args: readonly string[]) => Promise<readonly KubeObject[]>;
  /** What `helm install` would print beside the objects. */
  readonly notes: (...args: readonly string[]) => Promise<string>;
  /** What helm says of values it refuses. */
  readonly refusal: (...args: readonly string[]) => Promise<string>;
}

/** helm, built first when it is not in the cache. */
export async function openHelm({ kubeconfigPath }: { readonly kubeconfigPath: string }): Promise<Helm> {
  const { stdout } = await run(path("scripts/setup-helm.sh"));
  const program = stdout.trimEnd().split("\n").at(-1) ?? "";
  const helm = async (...args: readonly string[]) => (await run(program, args)).stdout;
  const inNamespace = ["--namespace", "karpenter"];
  return {
    lint: (chart, ...args) => helm("lint", path(chart), ...args),
    template: async (chart, ...args) => {
      const text = await helm("template", "karpenter", path(chart), ...inNamespace, ...args);
      return parseAllDocuments(text).flatMap((document) =>
        document.contents === null ? [] : [document.toJS() as KubeObject],
      );
    },
    notes: (...args) =>
      helm(
        "install",
        "karpenter",
        path("deploy/chart"),
        ...inNamespace,
        "--dry-run=client",
        "--kubeconfig",
        kubeconfigPath,
        ...args,
      ),
    refusal: async (...args) => {
      try {
        await helm("template", "karpenter", path("deploy/chart"), ...inNamespace, ...args);
      } catch (error) {
        return (error as { stderr: string }).stderr;
      }
      throw new Error(`helm takes ${args.join(" ")}`);
    },
  };
}
