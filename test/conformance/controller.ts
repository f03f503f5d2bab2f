import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Child, startChild } from "../cluster/child.ts";
import { eventually, Hopeless } from "../cluster/eventually.ts";
import type { Suite } from "./spec.ts";

/** Whose controller is under test. */
export const controllerNames = ["karpenter-ts", "upstream"] as const;
export type ControllerName = (typeof controllerNames)[number];

export interface ControllerOptions {
  readonly name: ControllerName;
  readonly suite: Suite;
  readonly kubeconfigPath: string;
  /** Folder of the programs that `scripts/setup-conformance.sh` built. */
  readonly programs: string;
  /** Root of the repository. */
  readonly root: string;
  readonly logPath: string;
}

const healthPort = 8081;
const readyWithinMs = 60_000;

/** The controller as upstream's chart and Makefile set it up, as a plain process. */
export async function startController(options: ControllerOptions): Promise<Child> {
  const { name, suite, kubeconfigPath, programs, root, logPath } = options;
  const env = {
    ...process.env,
    KUBECONFIG: kubeconfigPath,
    KUBERNETES_MIN_VERSION: "1.19.0-0",
    KARPENTER_SERVICE: "karpenter",
    SYSTEM_NAMESPACE: "kube-system",
    // Two regression specs listen on 8080 themselves; the performance suite reads the metrics there.
    METRICS_PORT: suite === "performance" ? "8080" : "18080",
    HEALTH_PROBE_PORT: String(healthPort),
    LEADER_ELECTION_NAMESPACE: "kube-system",
    // On a busy small machine the lease can be lost, which ends the process.
    DISABLE_LEADER_ELECTION: "true",
    LOG_LEVEL: "debug",
    MEMORY_LIMIT: String(2 ** 31),
    CPU_REQUESTS: "1000",
    ENABLE_PROFILING: "true",
    FEATURE_GATES: "StaticCapacity=true,SpotToSpotConsolidation=false,NodeRepair=true,CapacityBuffer=true",
  };
  const child =
    name === "upstream"
      ? await startChild(join(programs, "karpenter-kwok"), { args: [], env, logPath })
      : await startChild(process.execPath, {
          args: [join(root, "bin/karpenter.js"), "run", "--provider", "kwok"],
          env,
          logPath,
        });
  await untilHealthy(child);
  return child;
}

async function untilHealthy(child: Child): Promise<void> {
  try {
    await eventually(
      "the controller is ready",
      async () => {
        if (child.hasExited()) throw new Hopeless(`the controller exited; its log ends:\n${child.logTail()}`);
        return (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).ok || undefined;
      },
      { timeoutMs: readyWithinMs, everyMs: 200 },
    );
  } catch (error) {
    if (error instanceof Hopeless) throw error;
    throw new Error(`the controller did not become ready; its log ends:\n${child.logTail()}`, { cause: error });
  }
}

export interface Usage {
  readonly cpuSeconds: number;
  /** The most it held since `markPeak`, in MB. */
  readonly peakMb: number;
}

const ticksPerSecond = 100; // what Linux says on every architecture

/** What a process has used so far, from /proc. */
export function usageOf({ pid }: Child): Usage {
  // The name of the program is in parentheses and may hold spaces.
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  const peakKb = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return { cpuSeconds: (Number(stat[11]) + Number(stat[12])) / ticksPerSecond, peakMb: Number(peakKb) / 1024 };
}

/** Forgets the peak so far. */
export function markPeak({ pid }: Child): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}
