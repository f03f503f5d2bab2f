export interface ConcurrentOptions<T> {
  /** How many items are worked on at a time. */
  readonly limit: number;
  readonly run: (item: T, index: number) => Promise<void>;
  /** Awaited before each item, for yielding to other work. */
  readonly pause?: (() => unknown) | undefined;
}

/**
 * Runs the work for every item, a limited number at a time: a hundred thousand promises at once would fill the memory.
 * An item is taken only when there is room for it. A failure affects its item alone; returns all of them.
 */
export async function forEachConcurrent<T>(
  items: Iterable<T>,
  { limit, run, pause }: ConcurrentOptions<T>,
): Promise<readonly unknown[]> {
  const errors: unknown[] = [];
  const running = new Set<Promise<void>>();
  const start = async (item: T, index: number): Promise<void> => {
    try {
      await run(item, index);
    } catch (error) {
      errors.push(error);
    }
  };
  let index = 0;
  for (const item of items) {
    if (pause !== undefined) await pause();
    if (running.size >= limit) await Promise.race(running);
    const work: Promise<void> = start(item, index++).finally(() => running.delete(work));
    running.add(work);
  }
  await Promise.all(running);
  return errors;
}

/** Throws the errors as one, if there are any. */
export function throwIfAny(errors: readonly unknown[], message: string): void {
  if (errors.length > 0) throw new AggregateError(errors, message);
}
