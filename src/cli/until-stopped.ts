/** Resolves when the process is asked to stop. */
export type UntilStopped = () => Promise<void>;

/** Ctrl-C, or the kubelet's SIGTERM; a second signal ends the process at once. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      process.off("SIGINT", done).off("SIGTERM", done);
      resolve();
    };
    process.on("SIGINT", done).on("SIGTERM", done);
  });
}
