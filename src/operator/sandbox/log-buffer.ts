import {
  firstLogLine,
  formatLogLine,
  type LogLine,
  type LogRequest,
} from "../../control-plane/api/subresources/log.ts";

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
    let position = this.#dropped + firstLogLine(this.#lines, request, this.#now());
    for (;;) {
      for (; position - this.#dropped < this.#lines.length; position++) {
        const line = this.#lines[Math.max(0, position - this.#dropped)];
        if (line !== undefined) yield formatLogLine(line, request);
      }
      if (request.follow !== true || request.signal?.aborted === true) return;
      await this.#nextLine(request.signal);
    }
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
