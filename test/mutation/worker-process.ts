import { type ChildProcess, fork } from "node:child_process";
import { cpuMsOfGroup } from "./cpu-time.ts";
import type { TryMutant, WorkerMessage } from "./mutant-worker.ts";
import type { TestFileResult } from "./test-session.ts";

export type Trial =
  | { readonly kind: "killed"; readonly by: TestFileResult }
  /** A test took far longer than without the mutant: it would never have ended. */
  | { readonly kind: "timed-out" }
  | { readonly kind: "survived" }
  | { readonly kind: "not-reached" };

const lookEveryMs = 2_000;
/** A process that computes nothing hangs as well, but on a busy machine it may only wait for its turn. */
const patience = 10;

/** A process that tries mutants one at a time, replaced when a mutant makes it hang. */
export class WorkerProcess {
  readonly #script: string;
  #child: ChildProcess | undefined;

  constructor(script: string) {
    this.#script = script;
  }

  /** Gives up when a test file has computed for so long. */
  async try(request: TryMutant, limitMs: number): Promise<Trial> {
    if (request.tests.length === 0) return { kind: "not-reached" };
    const child = this.#started();
    return new Promise((resolve, reject) => {
      let since = spentBy(child);
      const timer = setInterval(() => {
        const now = spentBy(child);
        if (now.cpuMs - since.cpuMs < limitMs && now.wallMs - since.wallMs < patience * limitMs) return;
        this.stop();
        end({ kind: "timed-out" });
      }, lookEveryMs);
      const end = (trial: Trial) => {
        clearInterval(timer);
        child.removeAllListeners("message");
        child.removeAllListeners("exit");
        resolve(trial);
      };
      child.on("message", (message: WorkerMessage) => {
        if (message.kind === "file-ended") since = spentBy(child);
        else end(message.killer === undefined ? { kind: "survived" } : { kind: "killed", by: message.killer });
      });
      child.on("exit", (code) => {
        clearInterval(timer);
        this.#child = undefined;
        reject(new Error(`the worker ended with ${code}`));
      });
      child.send(request);
    });
  }

  stop(): void {
    const pid = this.#child?.pid;
    this.#child?.removeAllListeners("exit");
    this.#child = undefined;
    if (pid !== undefined) process.kill(-pid, "SIGKILL"); // its group: the tests run in processes of their own
  }

  #started(): ChildProcess {
    this.#child ??= fork(this.#script, ["--worker"], { detached: true, stdio: "ignore" });
    return this.#child;
  }
}

function spentBy({ pid = 0 }: ChildProcess): { readonly cpuMs: number; readonly wallMs: number } {
  const wallMs = performance.now();
  return { cpuMs: cpuMsOfGroup(pid) ?? wallMs, wallMs };
}
