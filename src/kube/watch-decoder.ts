import { isRecord, type KubeObject } from "../api/object.ts";
import { initialEventsEndAnnotation, type WatchEvent } from "./client.ts";
import { KubeError } from "./kube-error.ts";
import { splitLines } from "./split-lines.ts";
import { errorFromStatus, isStatus } from "./status-error.ts";

/** Called with complete lines, so that it keeps no state between them. */
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Decodes a watch stream as its bytes arrive. Throws the error the server sends, and on a line that is not an event.
 */
export async function* watchEvents<T extends KubeObject>(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<WatchEvent<T>> {
  for await (const line of splitLines(chunks)) {
    if (line.length > 0) yield watchEvent<T>(parseLine(line));
  }
}

function parseLine(line: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(line));
  } catch (cause) {
    throw undecodable("not JSON", cause);
  }
}

function watchEvent<T extends KubeObject>(event: unknown): WatchEvent<T> {
  if (!isRecord(event) || !isRecord(event["object"])) throw undecodable("no object");
  const { type, object } = event;
  if (type === "ERROR") throw isStatus(object) ? errorFromStatus(object) : undecodable("error without a status");
  const metadata = object["metadata"];
  // Without a resourceVersion the watch could not be resumed.
  if (!isRecord(metadata) || typeof metadata["resourceVersion"] !== "string")
    throw undecodable("object without resourceVersion");
  if (type === "BOOKMARK") return bookmark(metadata["resourceVersion"], metadata["annotations"]);
  if (type === "ADDED" || type === "MODIFIED" || type === "DELETED") {
    return { type, object: object as unknown as T };
  }
  throw undecodable(`unknown type ${JSON.stringify(type)}`);
}

function bookmark(resourceVersion: string, annotations: unknown): WatchEvent<never> {
  const ended = isRecord(annotations) && annotations[initialEventsEndAnnotation] === "true";
  return { type: "BOOKMARK", resourceVersion, initialEventsEnd: ended };
}

function undecodable(because: string, cause?: unknown): KubeError {
  return new KubeError("server-error", `undecodable watch event: ${because}`, { cause });
}
