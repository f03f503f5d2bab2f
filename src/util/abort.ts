/**
 * Runs something when the signal aborts; at once, if it already has. Returns the unsubscribe function, because a signal
 * may live as long as the process.
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  if (signal.aborted) run();
  else signal.addEventListener("abort", run, { once: true });
  return () => signal.removeEventListener("abort", run);
}

/** The result of a call; rejects with the signal's reason when it aborts first. The call goes on without anybody waiting. */
export async function unlessAborted<T>(call: Promise<T>, signal: AbortSignal): Promise<T> {
  let stopListening: () => void = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stopListening = onAbort(signal, () => reject(signal.reason));
  });
  try {
    return await Promise.race([call, aborted]);
  } finally {
    stopListening();
    call.catch(() => {});
  }
}

/** Resolves when the signal aborts. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => onAbort(signal, resolve));
}
