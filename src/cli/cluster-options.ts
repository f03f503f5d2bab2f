import type { Command } from "commander";
import type { ClusterChoice } from "./live-cluster.ts";

/** Flags that name a cluster, the same for every command that can read one. */
export function withClusterOptions(command: Command, { purpose }: { readonly purpose: string }): Command {
  return command
    .option("--kubeconfig <path>", `${purpose}, using this kubeconfig`)
    .option("--context <name>", `${purpose}, using this kubeconfig context`);
}

/** The cluster the options name; undefined if they name none. */
export function clusterChoice({ kubeconfig, context }: ClusterChoice): ClusterChoice | undefined {
  return kubeconfig === undefined && context === undefined ? undefined : { kubeconfig, context };
}
