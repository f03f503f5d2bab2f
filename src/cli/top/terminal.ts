import type { ScreenSize } from "./render-top-frame.ts";

/** A terminal whose whole screen is ours. */
export interface Terminal {
  readonly size: () => ScreenSize;
  readonly write: (text: string) => void;
  /** What was typed, as the terminal sends it. */
  readonly onInput: (handle: (data: string) => void) => void;
  readonly onResize: (handle: () => void) => void;
  /** The process is asked to stop. */
  readonly onStop: (handle: () => void) => void;
  /** Gives keyboard and signals back. */
  readonly close: () => void;
}

const defaultSize: ScreenSize = { columns: 80, rows: 24 };

/** The terminal of this process; undefined if there is none to read keys from. */
export function systemTerminal(): Terminal | undefined {
  const { stdin, stdout } = process;
  if (stdin.isTTY !== true || stdout.isTTY !== true) return undefined;
  const cleanUps: (() => void)[] = [];
  return {
    size: () => ({ columns: stdout.columns || defaultSize.columns, rows: stdout.rows || defaultSize.rows }),
    write: (text) => void stdout.write(text),
    onInput: (handle) => {
      const listen = (data: Buffer): void => handle(data.toString("utf8"));
      stdin.setRawMode(true).resume().on("data", listen);
      cleanUps.push(() => void stdin.off("data", listen).pause().setRawMode(false));
    },
    onResize: (handle) => {
      stdout.on("resize", handle);
      cleanUps.push(() => void stdout.off("resize", handle));
    },
    onStop: (handle) => {
      const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
      for (const signal of signals) process.on(signal, handle);
      cleanUps.push(() => {
        for (const signal of signals) process.off(signal, handle);
      });
    },
    close: () => {
      for (const cleanUp of cleanUps.splice(0)) cleanUp();
    },
  };
}

/** The alternate screen, without a cursor; the shell's screen is untouched. */
export const enterScreen = "\u001b[?1049h\u001b[?25l";
export const leaveScreen = "\u001b[?25h\u001b[?1049l";

/** Draws over what is there, without clearing it first: that would flicker. */
export function drawFrame(lines: readonly string[]): string {
  return `\u001b[H${lines.map((line) => `${line}\u001b[K`).join("\r\n")}\u001b[J`;
}
