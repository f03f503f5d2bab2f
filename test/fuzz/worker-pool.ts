import { Worker } from "node:worker_threads";
import type { Replay } from "./replay.ts";
import type { Outcome } from "./run-story.ts";

/** What a worker answers with. */
export interface Finished {
  readonly outcome: Outcome;
  readonly tookMs: number;
}

export interface WorkerPoolOptions {
  /** The script a worker runs. */
  readonly file: string;
  readonly jobs: number;
  /** A run that takes longer has hung. */
  readonly timeoutMs: number;
}

interface Job {
  readonly replay: Replay;
  readonly done: (finished: Finished) => void;
}

/** Threads that run stories, one at a time each. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #waiting: Job[] = [];
  readonly #idle: Worker[] = [];
  #workers = 0;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  run(replay: Replay): Promise<Finished> {
    return new Promise((done) => {
      this.#waiting.push({ replay, done });
      this.#next();
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#idle.map((worker) => worker.terminate()));
  }

  #next(): void {
    const errand = this.#waiting[0];
    const worker = errand === undefined ? undefined : (this.#idle.pop() ?? this.#startWorker());
    if (errand === undefined || worker === undefined) return;
    this.#waiting.shift();
    this.#send(worker, errand);
  }

  #startWorker(): Worker | undefined {
    if (this.#workers >= this.#options.jobs) return undefined;
    this.#workers++;
    return new Worker(this.#options.file, { argv: ["--worker"] });
  }

  #send(worker: Worker, { replay, done }: Job): void {
    const startedAt = performance.now();
    const over = (finished: Finished, isWell: boolean): void => {
      clearTimeout(alarm);
      worker.off("message", answered);
      worker.off("error", failed);
      if (isWell) this.#idle.push(worker);
      else {
        this.#workers--;
        void worker.terminate();
      }
      done(finished);
      this.#next();
    };
    const broken = (why: string) =>
      over(
        { outcome: { ...nothing, seed: replay.seed, complaints: [why] }, tookMs: performance.now() - startedAt },
        false,
      );
    const { timeoutMs } = this.#options;
    const alarm = setTimeout(() => broken(`hangs: no end after ${timeoutMs / 1_000} s`), timeoutMs);
    const answered = (finished: Finished): void => over(finished, true);
    const failed = (error: Error): void => broken(`the thread broke: ${error.stack ?? error.message}`);
    worker.once("message", answered);
    worker.once("error", failed);
    worker.postMessage(replay);
  }
}

const nothing: Omit<Outcome, "seed"> = {
  complaints: [],
  fingerprint: "",
  hours: 0,
  writes: 0,
  cloudCalls: 0,
  faults: {},
  operatorsStarted: 0,
  instances: 0,
  disrupted: {},
  price: 0,
};
