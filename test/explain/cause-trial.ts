import { Command, CommanderError } from "commander";
import type { Pod } from "../../src/api/kubernetes/pod.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { explainCommand } from "../../src/cli/explain-command.ts";
import type { Explanation, Suggestion } from "../../src/core/explain/explanation.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { builtInTypes } from "../../src/kube/resources.ts";
import type { Clock } from "../../src/util/clock.ts";
import { fakeIo } from "../conversion/fake-io.ts";
import type { GeneratedCase } from "./case-draft.ts";

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
      const failure = await applyIn(cluster, suggestion, one);
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

type StoredPod = KubeObject & Pod;

async function podsOf(client: KubeClient, labelSelector: string): Promise<readonly StoredPod[]> {
  const { items } = await client.list<StoredPod>(builtInTypes.Pod, { namespace: "default", labelSelector });
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

function hasRun({ status }: Pod): boolean {
  return status?.phase === "Running" || status?.phase === "Succeeded";
}

function isUnschedulable({ status }: Pod): boolean {
  return status?.conditions?.some(({ reason }) => reason === "Unschedulable") ?? false;
}

/** Creates the objects, lets what runs before run, and then the workload as far as it has places. */
async function createIn(cluster: TrialCluster, { objects, running, workload, fits }: GeneratedCase): Promise<void> {
  await cluster.create([...objects, ...running]);
  for (const { metadata, spec } of running) {
    const { replicas = 1 } = (spec ?? {}) as { readonly replicas?: number };
    const areRunning = await cluster.until(async () => {
      const pods = await podsOf(cluster.client, `app=${metadata.name}`);
      return pods.filter(hasRun).length >= replicas;
    });
    if (!areRunning) throw new Error(`the pods of ${metadata.name} do not run`);
  }
  await cluster.create([workload]);
  const isPending = await cluster.until(async () => {
    const pods = await podsOf(cluster.client, "app=stuck");
    return pods.some(isUnschedulable) && pods.filter(hasRun).length === fits;
  });
  if (!isPending) throw new Error(`the pod never became pending, or others of its workload do not run`);
}

async function explainIn(cluster: TrialCluster, one: GeneratedCase): Promise<Explanation> {
  await createIn(cluster, one);
  const { workload } = one;
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
  const explained = JSON.parse(io.out()) as Explanation;
  const { kind } = explained.outcome;
  if (kind !== "unplaced" && kind !== "ignored")
    throw new Error(`explain says that it has a place: ${explained.cause}`);
  return explained;
}

async function applyIn(
  cluster: TrialCluster,
  { commands = [], alsoPlaced }: Suggestion,
  { workload, fits }: GeneratedCase,
): Promise<string | undefined> {
  if (commands.length === 0) return "it has no command";
  if (
    workload.kind === "StatefulSet" &&
    commands.some((command) => /persistentvolume|volumeclaim|\/volumes\b/i.test(command))
  )
    return "it touches volumes of a StatefulSet";
  try {
    for (const command of commands) await cluster.execute(command);
  } catch (error) {
    return `it cannot be applied: ${String(error)}`;
  }
  const runs = await cluster.until(
    async () => (await podsOf(cluster.client, "app=stuck")).filter(hasRun).length >= fits + 1 + alsoPlaced,
  );
  return runs ? undefined : `the pod does not run${alsoPlaced === 0 ? "" : `, or ${alsoPlaced} more do not`}`;
}
