import type { Io } from "../io.ts";

const width = 30;
/** Redrawing more often than this is flicker. */
const redrawMs = 100;
const clearLine = "\r\u001b[K";

/** A bar for a person who waits; silent when nobody watches. */
export interface ProgressBar {
  readonly show: (done: number, total: number) => void;
  readonly clear: () => void;
}

const silentProgressBar: ProgressBar = { show: () => undefined, clear: () => undefined };

/** `title [#####.....]  50%`, on standard error, so that the result stays clean. Nothing is drawn in the first moment. */
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
