import type { KubeObject } from "../../../api/object.ts";

export interface LogRequest {
  readonly container?: string | undefined;
  readonly follow?: boolean | undefined;
  readonly previous?: boolean | undefined;
  readonly timestamps?: boolean | undefined;
  readonly tailLines?: number | undefined;
  readonly limitBytes?: number | undefined;
  readonly sinceSeconds?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly sinceTime?: number | undefined;
  /** Aborts when the client has disconnected. */
  readonly signal?: AbortSignal | undefined;
}

/** The source of container logs; undefined for pods it knows nothing of. */
export type LogSource = (pod: KubeObject, request: LogRequest) => AsyncIterable<string> | undefined;

export interface LogLine {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Without its newline. */
  readonly text: string;
}

/** The index of the first line to show, by `--since` and `--tail`. */
export function firstLogLine(
  lines: readonly LogLine[],
  { tailLines, sinceSeconds, sinceTime }: LogRequest,
  now: number,
): number {
  const since = Math.max(sinceSeconds === undefined ? 0 : now - sinceSeconds * 1_000, sinceTime ?? 0);
  const first = lines.findIndex(({ at }) => at >= since);
  const from = first < 0 ? lines.length : first;
  const tail = tailLines === undefined || tailLines < 0 ? 0 : lines.length - tailLines;
  return Math.max(from, tail, 0);
}

export function formatLogLine({ at, text }: LogLine, { timestamps }: LogRequest): string {
  return `${timestamps === true ? `${new Date(at).toISOString()} ` : ""}${text}\n`;
}
