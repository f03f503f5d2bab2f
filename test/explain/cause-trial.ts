import { Command, CommanderError } from "commander";
import type { Pod } from "../../src/api/kubernetes/pod.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { explainCommand } from "../../src/cli/explain-command.ts";
import type { Explanation } from "../../src/core/explain/explanation.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { builtInTypes } from "../../src/kube/resources.ts";
import type { Clock } from "../../src/util/clock.ts";
import { fakeIo } from "../conversion/fake-io.ts";
import type { GeneratedCase } from "./generated-causes.ts";

/** A cluster in which a case is tried. */
export interface TrialCluster {
  readonly client: KubeClient;
  readonly clock: Clock;
  create(objects: readonly KubeObject[]): Promise<void>;
  /** Runs a command line as it was printed. */
  execute(command: string): Promise<void>;
  /** Lets time pass until it holds; false if it does not. */
  until(holds: () => Promise<boolean>): Promise<boolean>;
  close(): Promise<void>;
}

export interface TriedCase {
  readonly suggestions: number;
  /** Suggestions after which the pod does not run, and why. */
  readonly failures: readonly string[];
}

/** Explains the case in a cluster of its own, and applies each suggestion in another one. */
export async function tryCase(one: GeneratedCase, open: () => Promise<TrialCluster>): Promise<TriedCase> {
  const failures: string[] = [];
  let suggestions = 1;
  for (let index = 0; index < suggestions; index++) {
    const cluster = await open();
    try {
      const explained = await explainIn(cluster, one);
      const offered = [...explained.suggestions, ...(explained.lastResorts ?? [])];
      suggestions = offered.length;
      const suggestion = offered[index];
      if (suggestion === undefined) break;
      const failure = await applyIn(cluster, suggestion.commands ?? [], one);
      if (failure !== undefined)
        failures.push(
          `${one.cause} (${one.workload.kind}), ${suggestion.text}: ${failure}\n  ${(suggestion.commands ?? []).join("\n  ")}`,
        );
    } finally {
      await cluster.close();
    }
  }
  return { suggestions, failures };
}

async function podsOf(client: KubeClient): Promise<readonly (KubeObject & Pod)[]> {
  const { items } = await client.list<KubeObject & Pod>(builtInTypes.Pod, {
    namespace: "default",
    labelSelector: "app=stuck",
  });
  return items;
}

async function explainIn(cluster: TrialCluster, { objects, workload }: GeneratedCase): Promise<Explanation> {
  await cluster.create([...objects, workload]);
  const isPending = await cluster.until(async () =>
    (await podsOf(cluster.client)).some(({ status }) =>
      status?.conditions?.some(({ reason }) => reason === "Unschedulable"),
    ),
  );
  if (!isPending) throw new Error("the pod never became pending");
  const io = fakeIo({});
  const connect = async () => ({ kube: cluster.client, clock: cluster.clock, server: "test", close: () => {} });
  const name = workload.kind === "Pod" ? "pod/stuck" : `${workload.kind.toLowerCase()}/stuck`;
  try {
    const program = new Command("karpenter").addCommand(explainCommand(io, { connect }));
    await program.parseAsync(["explain", name, "-o", "json"], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
  if (io.out() === "") throw new Error(`explain failed: ${io.err()}`);
  return JSON.parse(io.out()) as Explanation;
}

async function applyIn(
  cluster: TrialCluster,
  commands: readonly string[],
  { workload }: GeneratedCase,
): Promise<string | undefined> {
  if (commands.length === 0) return "it has no command";
  if (
    workload.kind === "StatefulSet" &&
    commands.some((command) => /persistentvolume|volumeclaim|\/volumes/i.test(command))
  )
    return "it touches volumes of a StatefulSet";
  try {
    for (const command of commands) await cluster.execute(command);
  } catch (error) {
    return `it cannot be applied: ${String(error)}`;
  }
  const runs = await cluster.until(async () =>
    (await podsOf(cluster.client)).some(({ status }) => status?.phase === "Running" || status?.phase === "Succeeded"),
  );
  return runs ? undefined : "the pod does not run";
}
