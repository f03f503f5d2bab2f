import { isRecord, type KubeObject } from "../api/object.ts";
import type { WatchEvent } from "./client.ts";
import { KubeError } from "./error.ts";
import { lines } from "./lines.ts";
import { isStatus, statusError } from "./status-error.ts";

/** Whole lines at a time: it remembers nothing between them. */
const utf8 = new TextDecoder("utf-8", { fatal: true });

const initialEventsEnd = "k8s.io/initial-events-end";

/** The events of a watch as its bytes arrive. Throws what the server reports, and at a line that is no event. */
export async function* watchEvents<T extends KubeObject>(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<WatchEvent<T>> {
  for await (const line of lines(chunks)) {
    if (line.length > 0) yield watchEvent<T>(parsed(line));
  }
}

function parsed(line: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(line));
  } catch (cause) {
    throw undecodable("not JSON", cause);
  }
}

function watchEvent<T extends KubeObject>(event: unknown): WatchEvent<T> {
  if (!isRecord(event) || !isRecord(event["object"])) throw undecodable("no object in it");
  const { type, object } = event;
  if (type === "ERROR") throw isStatus(object) ? statusError(object) : undecodable("an error without a status");
  const metadata = object["metadata"];
  // Without a version there is no resuming after it.
  if (!isRecord(metadata) || typeof metadata["resourceVersion"] !== "string")
    throw undecodable("an object of no version");
  if (type === "BOOKMARK") return bookmark(metadata["resourceVersion"], metadata["annotations"]);
  if (type === "ADDED" || type === "MODIFIED" || type === "DELETED") {
    return { type, object: object as unknown as T };
  }
  throw undecodable(`of unknown type ${JSON.stringify(type)}`);
}

function bookmark(resourceVersion: string, annotations: unknown): WatchEvent<never> {
  const ended = isRecord(annotations) && annotations[initialEventsEnd] === "true";
  return { type: "BOOKMARK", resourceVersion, initialEventsEnd: ended };
}

function undecodable(because: string, cause?: unknown): KubeError {
  return new KubeError("server-error", `undecodable watch event: ${because}`, { cause });
}
