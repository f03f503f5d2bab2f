import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import type { Schedule } from "../scenarios/compare.ts";
import type { DifferentialProblem } from "./problem.ts";

/** What upstream decides: every distinct answer it gave, or why it gave none. */
export type UpstreamAnswers<Answer = Schedule> =
  | { readonly kind: "answered"; readonly answers: readonly Answer[] }
  | { readonly kind: "failed"; readonly because: string };

/** The oracle as a process that answers one question a line. */
export class Oracle {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: Interface;
  readonly #waiting: ((line: string) => void)[] = [];

  constructor(program: string) {
    this.#process = spawn(program, ["batch"], { stdio: ["pipe", "pipe", "pipe"] });
    this.#process.stderr.resume(); // its log says nothing that the answers do not
    this.#lines = createInterface({ input: this.#process.stdout });
    this.#lines.on("line", (line) => this.#waiting.shift()?.(line));
    this.#process.on("exit", () => {
      for (const answer of this.#waiting.splice(0)) answer(JSON.stringify({ error: "the oracle has ended" }));
    });
  }

  /** Asks so many times, because upstream draws among equals. */
  async ask<Answer = Schedule>(
    { seed: _, ...question }: DifferentialProblem,
    repeat: number,
  ): Promise<UpstreamAnswers<Answer>> {
    const line = await new Promise<string>((resolve) => {
      this.#waiting.push(resolve);
      this.#process.stdin.write(`${JSON.stringify({ ...question, repeat })}\n`);
    });
    const { answers, error } = JSON.parse(line) as { answers?: readonly Answer[]; error?: string };
    return answers === undefined ? { kind: "failed", because: error ?? "no answer" } : { kind: "answered", answers };
  }

  stop(): void {
    this.#process.stdin.end();
  }
}
