import type { Io } from "../io.ts";

const width = 30;
/** Redrawing more often would flicker. */
const redrawMs = 100;
const clearLine = "\r\u001b[K";

/** A progress bar; does nothing unless standard output is a terminal. */
export interface ProgressBar {
  readonly show: (done: number, total: number) => void;
  readonly clear: () => void;
}

const silentProgressBar: ProgressBar = { show: () => undefined, clear: () => undefined };

/** Draws `title [#####.....]  50%` on standard error, not before the first `redrawMs` have passed. */
export function progressBar(title: string, { io, now }: { readonly io: Io; readonly now: () => number }): ProgressBar {
  if (!io.isTty) return silentProgressBar;
  let last = now();
  let isShown = false;
  return {
    show: (done, total) => {
      if (now() - last < redrawMs) return;
      last = now();
      isShown = true;
      const share = total === 0 ? 1 : Math.min(1, done / total);
      const bar = "#".repeat(Math.round(share * width)).padEnd(width, ".");
      io.stderr(`${clearLine}${title} [${bar}] ${String(Math.round(share * 100)).padStart(3)}%`);
    },
    clear: () => {
      if (isShown) io.stderr(clearLine);
    },
  };
}
