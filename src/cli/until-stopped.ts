/** Resolves when the process is told to end. */
export type UntilStopped = () => Promise<void>;

/** Ctrl-C, or what a kubelet sends; the next one ends the process at once. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      process.off("SIGINT", done).off("SIGTERM", done);
      resolve();
    };
    process.on("SIGINT", done).on("SIGTERM", done);
  });
}
