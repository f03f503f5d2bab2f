import { type ChildProcess, fork } from "node:child_process";
import type { TryMutant, WorkerMessage } from "./mutant-worker.ts";
import type { TestFileResult } from "./test-session.ts";

export type Trial =
  | { readonly kind: "killed"; readonly by: TestFileResult }
  /** A test took far longer than without the mutant: it would never have ended. */
  | { readonly kind: "timed-out" }
  | { readonly kind: "survived" }
  | { readonly kind: "not-reached" };

/** A process that tries mutants one at a time, replaced when a mutant makes it hang. */
export class WorkerProcess {
  readonly #script: string;
  #child: ChildProcess | undefined;

  constructor(script: string) {
    this.#script = script;
  }

  async try(request: TryMutant, silenceMs: number): Promise<Trial> {
    if (request.tests.length === 0) return { kind: "not-reached" };
    const child = this.#started();
    return new Promise((resolve, reject) => {
      const end = (trial: Trial) => {
        clearTimeout(timer);
        child.removeAllListeners("message");
        child.removeAllListeners("exit");
        resolve(trial);
      };
      const giveUp = () => {
        this.stop();
        end({ kind: "timed-out" });
      };
      let timer = setTimeout(giveUp, silenceMs);
      child.on("message", (message: WorkerMessage) => {
        clearTimeout(timer);
        if (message.kind === "file-ended") timer = setTimeout(giveUp, silenceMs);
        else end(message.killer === undefined ? { kind: "survived" } : { kind: "killed", by: message.killer });
      });
      child.on("exit", (code) => {
        clearTimeout(timer);
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
