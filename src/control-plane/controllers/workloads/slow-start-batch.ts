/**
 * Runs work in batches of 1, 2, 4, 8 …: where all of it must fail, for want of quota or a namespace, a first try shows
 * it. Returns how many went well; throws the first failure of a batch after the batch is over.
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
