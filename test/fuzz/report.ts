import { disruptionReasons } from "../../src/api/vocabulary.ts";
import type { Finished } from "./worker-pool.ts";

const everyMs = 5_000;

/** What was run, and what came of it. */
export class Report {
  readonly failures: Finished[] = [];
  readonly #finished: Finished[] = [];
  readonly #seeds: number;
  readonly #write: (text: string) => void;
  readonly #startedAt = performance.now();
  #lastSaidAt = 0;

  constructor({ seeds, write }: { readonly seeds: number; readonly write: (text: string) => void }) {
    this.#seeds = seeds;
    this.#write = write;
  }

  add(finished: Finished): void {
    this.#finished.push(finished);
    if (finished.outcome.complaints.length > 0) this.failures.push(finished);
    const now = performance.now();
    if (now - this.#lastSaidAt < everyMs) return;
    this.#lastSaidAt = now;
    const seconds = Math.round((now - this.#startedAt) / 1_000);
    const failed = this.failures.map(({ outcome }) => outcome.seed).join(" ");
    this.#write(`${this.#finished.length} of ${this.#seeds} seeds, ${seconds} s, failed: ${failed || "none"}\n`);
  }

  print(): void {
    const outcomes = this.#finished.map(({ outcome }) => outcome);
    const sum = (of: (one: (typeof outcomes)[number]) => number): number =>
      outcomes.reduce((all, one) => all + of(one), 0);
    const kinds = [...new Set(outcomes.flatMap(({ faults }) => Object.keys(faults)))].sort();
    const slowest = [...this.#finished].sort((a, b) => b.tookMs - a.tookMs)[0];
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    const lines = [
      `${outcomes.length} seeds in ${seconds.toFixed(0)} s, ${this.failures.length} failed`,
      `simulated hours: ${sum(({ hours }) => hours).toFixed(0)}`,
      `API writes: ${sum(({ writes }) => writes)}`,
      `cloud calls: ${sum(({ cloudCalls }) => cloudCalls)}`,
      `operators started: ${sum(({ operatorsStarted }) => operatorsStarted)}`,
      `nodes taken of free will: ${disruptionReasons.map((one) => `${one} ${sum(({ disrupted }) => disrupted[one] ?? 0)}`).join(", ")}`,
      "faults injected:",
      ...kinds.map((kind) => `  ${kind}: ${sum(({ faults }) => faults[kind] ?? 0)}`),
      `slowest: seed ${slowest?.outcome.seed}, ${((slowest?.tookMs ?? 0) / 1_000).toFixed(1)} s`,
    ];
    this.#write(`${lines.join("\n")}\n`);
  }
}
