/** Kubernetes' burst limit: at most this many pods are created or deleted per sync. */
export const maxPodsPerSync = 500;

/**
 * Runs work in batches of 1, 2, 4, 8 … (Kubernetes' slow start), so that a quota or namespace error shows on the first
 * call. Returns how many succeeded; throws the first failure of a batch once that batch is done.
 */
export async function slowStartBatch(count: number, run: (index: number) => Promise<void>): Promise<number> {
  let done = 0;
  for (let size = 1; done < count; size *= 2) {
    const batch = Array.from({ length: Math.min(size, count - done) }, (_, at) => run(done + at));
    const outcomes = await Promise.allSettled(batch);
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    done += batch.length;
  }
  return done;
}
