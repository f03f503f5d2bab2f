import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { basename } from "node:path";

/** A program we started, its output in a log file. */
export interface Child {
  readonly name: string;
  readonly pid: number;
  readonly hasExited: () => boolean;
  /** The last lines it wrote. */
  readonly logTail: () => string;
  /** Asks it to end, and after the grace period ends it. */
  readonly stop: (graceMs: number) => Promise<void>;
  /** Ends it at once, without waiting; for exit hooks. */
  readonly kill: () => void;
}

export interface StartOptions {
  readonly args: readonly string[];
  readonly logPath: string;
  /** Ours when not given. */
  readonly env?: NodeJS.ProcessEnv;
}

export async function startChild(program: string, { args, logPath, env }: StartOptions): Promise<Child> {
  const name = basename(program);
  const log = openSync(logPath, "a");
  const [command, ...rest] = [...dyingWithUs(), program, ...args];
  const process = spawn(command ?? program, rest, { stdio: ["ignore", log, log], env });
  closeSync(log);
  await once(process, "spawn");

  const hasExited = () => process.exitCode !== null || process.signalCode !== null;
  return {
    name,
    pid: pidOf(process),
    hasExited,
    logTail: () => readFileSync(logPath, "utf8").trimEnd().split("\n").slice(-15).join("\n"),
    kill: () => process.kill("SIGKILL"),
    stop: async (graceMs) => {
      if (hasExited()) return;
      const exit = once(process, "exit");
      process.kill("SIGTERM");
      const timer = setTimeout(() => process.kill("SIGKILL"), graceMs);
      await exit;
      clearTimeout(timer);
    },
  };
}

/** On Linux the kernel ends the child when we die, even by SIGKILL, when no exit hook runs. */
function dyingWithUs(): readonly string[] {
  const setpriv = "/usr/bin/setpriv";
  return existsSync(setpriv) ? [setpriv, "--pdeathsig", "KILL", "--"] : [];
}

function pidOf(process: ChildProcess): number {
  if (process.pid === undefined) throw new Error("a spawned process without a pid");
  return process.pid;
}
