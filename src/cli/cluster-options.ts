import type { Command } from "commander";
import type { ClusterChoice } from "./live-cluster.ts";

/** Flags that name a cluster, the same for every command that can read one. */
export function withClusterOptions(command: Command, { purpose }: { readonly purpose: string }): Command {
  return command
    .option("--kubeconfig <path>", `${purpose}, by this kubeconfig`)
    .option("--context <name>", `${purpose}, by this context of the kubeconfig`);
}

/** The cluster that is asked for; undefined when none is. */
export function clusterChoice({ kubeconfig, context }: ClusterChoice): ClusterChoice | undefined {
  return kubeconfig === undefined && context === undefined ? undefined : { kubeconfig, context };
}
