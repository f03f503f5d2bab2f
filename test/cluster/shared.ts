import { describe, inject, it } from "vitest";
import type { Connection } from "./kube.ts";

/** The one control plane of a test run, or why there is none. */
export type SharedCluster =
  | ({ readonly kind: "running"; readonly kubeconfigPath: string } & Connection)
  | { readonly kind: "missing"; readonly because: string };

declare module "vitest" {
  interface ProvidedContext {
    cluster: SharedCluster;
  }
}

/** Tests against the shared control plane; skipped when there is none. */
export function describeOnCluster(title: string, tests: (cluster: SharedCluster & { kind: "running" }) => void): void {
  const cluster = inject("cluster");
  if (cluster.kind === "running") describe(title, () => tests(cluster));
  else it.skip(`${title}: no control plane`, () => {});
}
