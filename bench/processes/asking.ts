import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";

/** What one process can be asked by another: by name, with JSON for arguments and answers. */
export type Answers = Readonly<Record<string, (...given: never[]) => unknown>>;

interface Question {
  readonly id: number;
  readonly what: string;
  readonly given: readonly unknown[];
}

interface Reply {
  readonly id: number;
  readonly answer?: unknown;
  readonly error?: string;
}

/** Answers the process that started this one, and ends with it. */
export function answer(answers: Answers): void {
  process.on("message", async ({ id, what, given }: Question) => {
    try {
      const said = await (answers[what] as ((...given: readonly unknown[]) => unknown) | undefined)?.(...given);
      process.send?.({ id, answer: said } satisfies Reply);
    } catch (error) {
      process.send?.({ id, error: String(error) } satisfies Reply);
    }
  });
  process.on("disconnect", () => process.exit());
}

export interface Started {
  readonly args?: readonly string[];
  readonly nodeFlags?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Descriptor its output goes to. */
  readonly output: number;
}

/** A process that answers questions. */
export class Answering<A extends Answers> {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #asked = 0;

  constructor(module: string, { args = [], nodeFlags = [], env = process.env, output }: Started) {
    const stdio = ["ignore", output, output, "ipc"] as const;
    this.#child = fork(module, [...args], { execArgv: [...nodeFlags], env, stdio: [...stdio], detached: true });
    if (process.argv.includes("--first")) goFirst(this.pid);
    this.#child.on("message", ({ id, answer, error }: Reply) => {
      if (error === undefined) this.#waiting.get(id)?.resolve(answer);
      else this.#waiting.get(id)?.reject(new Error(error));
      this.#waiting.delete(id);
    });
    this.#child.on("exit", (code, signal) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`it ended with ${signal ?? code}`));
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  ask<Name extends keyof A & string>(what: Name, ...given: Parameters<A[Name]>): Promise<Awaited<ReturnType<A[Name]>>> {
    const id = ++this.#asked;
    return new Promise((resolve, reject) => {
      if (!this.isAlive) return reject(new Error("it is not alive"));
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#child.send({ id, what, given } satisfies Question);
    });
  }

  /** Its exit code, once it has ended. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.isAlive) {
      const ended = once(this.#child, "exit");
      this.#child.kill(signal);
      await ended;
    }
    return this.#child.exitCode;
  }
}

/** Machines are shared: whoever may can have the figures of one of our own. Linux weighs sessions, then processes. */
function goFirst(pid: number): void {
  setPriority(pid, -20);
  writeFileSync(`/proc/${pid}/autogroup`, "-20");
}
