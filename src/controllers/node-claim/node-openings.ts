import type { Clock } from "../../util/clock.ts";

/** What opens one Node to pods. */
export interface NodeOpening {
  /** Nominates the pods planned on it. */
  readonly nominate: () => Promise<void>;
  /** Removes the taint that keeps pods away. */
  readonly open: () => Promise<void>;
}

/** A batch whose writes are not answered does not keep the next one waiting for longer than this. */
const maxBatchMs = 5_000;

interface Batch {
  readonly openings: NodeOpening[];
  readonly results: Promise<readonly PromiseSettledResult<void>[]>;
}

/**
 * Opens Nodes on which pods are planned, one batch after the other. Each Node that opens makes the scheduler try all pods
 * that wait, and clear the nominations of those whose own Node is still closed. So Nodes do not open while the pods of
 * others are being nominated, unless they open together. (02:L-48)
 */
export class NodeOpenings {
  readonly #clock: Clock;
  /** The batch that is collected. */
  #next: Batch | undefined;
  /** Resolves when the batch that comes next may start. */
  #turn: Promise<void> = Promise.resolve();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async open(opening: NodeOpening): Promise<void> {
    const batch = this.#next ?? this.#newBatch();
    const index = batch.openings.push(opening) - 1;
    const result = (await batch.results)[index];
    if (result?.status === "rejected") throw result.reason;
  }

  #newBatch(): Batch {
    const openings: NodeOpening[] = [];
    const results = this.#turn.then(() => {
      this.#next = undefined;
      return openAll(openings);
    });
    this.#turn = this.#turn.then(() => this.#endOf(results));
    this.#next = { openings, results };
    return this.#next;
  }

  #endOf(results: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#clock.setTimer(maxBatchMs, resolve);
      void results.then(() => {
        timer.cancel();
        resolve();
      });
    });
  }
}

async function openAll(openings: readonly NodeOpening[]): Promise<readonly PromiseSettledResult<void>[]> {
  const nominated = await Promise.allSettled(openings.map(({ nominate }) => nominate()));
  return Promise.allSettled(
    openings.map(async ({ open }, index) => {
      const outcome = nominated[index];
      if (outcome?.status === "rejected") throw outcome.reason;
      await open();
    }),
  );
}
