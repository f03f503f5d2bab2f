import type { LogRequest } from "../../control-plane/api/subresources/log.ts";

interface LogLine {
  readonly at: number;
  readonly text: string;
}

/** Older lines are dropped. */
const maxLines = 20_000;

/** The controller's last log lines, for `kubectl logs`. */
export class LogBuffer {
  readonly #lines: LogLine[] = [];
  readonly #now: () => number;
  readonly #readers = new Set<() => void>();
  /** How many lines were dropped from the front. */
  #dropped = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** One line, without its newline. */
  write(text: string): void {
    this.#lines.push({ at: this.#now(), text });
    if (this.#lines.length > maxLines * 1.1)
      this.#dropped += this.#lines.splice(0, this.#lines.length - maxLines).length;
    for (const wake of [...this.#readers]) wake();
  }

  /** Answers like a kubelet, also with `follow`. */
  async *read(request: LogRequest): AsyncIterable<string> {
    let position = this.#start(request);
    for (;;) {
      for (; position - this.#dropped < this.#lines.length; position++) {
        const line = this.#lines[Math.max(0, position - this.#dropped)];
        if (line !== undefined) yield formatLogLine(line, request);
      }
      if (request.follow !== true || request.signal?.aborted === true) return;
      await this.#nextLine(request.signal);
    }
  }

  #start({ tailLines, sinceSeconds }: LogRequest): number {
    const since = sinceSeconds === undefined ? 0 : this.#now() - sinceSeconds * 1_000;
    const first = this.#lines.findIndex(({ at }) => at >= since);
    const from = first < 0 ? this.#lines.length : first;
    const tail = tailLines === undefined || tailLines < 0 ? 0 : this.#lines.length - tailLines;
    return this.#dropped + Math.max(from, tail, 0);
  }

  /** Resolves when there is another line, or the reader is gone. */
  #nextLine(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#readers.delete(wake);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      this.#readers.add(wake);
      signal?.addEventListener("abort", wake);
    });
  }
}

function formatLogLine({ at, text }: LogLine, { timestamps }: LogRequest): string {
  return `${timestamps === true ? `${new Date(at).toISOString()} ` : ""}${text}\n`;
}
