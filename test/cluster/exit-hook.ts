const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs the action when this process ends, by itself or by a signal it can see. The answer takes the hook back. */
export function onExit(action: () => void): () => void {
  const forget = () => {
    process.off("exit", ending);
    for (const signal of signals) process.off(signal, signalled);
  };
  const ending = () => {
    forget();
    action();
  };
  const signalled = (signal: NodeJS.Signals) => {
    ending();
    // Whoever else listens decides what the signal means; alone, we put the default back in force.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  process.on("exit", ending);
  for (const signal of signals) process.on(signal, signalled);
  return forget;
}
