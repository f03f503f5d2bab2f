import type { KubeObject } from "../../../api/object.ts";

export interface LogRequest {
  readonly container?: string | undefined;
  readonly follow?: boolean | undefined;
  readonly previous?: boolean | undefined;
  readonly timestamps?: boolean | undefined;
  readonly tailLines?: number | undefined;
  readonly limitBytes?: number | undefined;
  readonly sinceSeconds?: number | undefined;
  /** Aborts when the client has disconnected. */
  readonly signal?: AbortSignal | undefined;
}

/** The source of container logs. */
export type LogSource = (pod: KubeObject, request: LogRequest) => AsyncIterable<string>;

/** Simulated containers log nothing, unless given a source. */
export const noLogs: LogSource = async function* () {};
