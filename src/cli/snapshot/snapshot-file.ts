import { gunzipSync, gzipSync } from "node:zlib";
import { Document } from "yaml";
import type { ManifestDocument } from "../../api/manifest/document.ts";
import { fileStartPosition } from "../../api/manifest/finding.ts";
import { isRecord, type KubeObject, namespacedName } from "../../api/object.ts";
import { errorMessage } from "../../util/error-text.ts";
import { errorCodeOf } from "../io.ts";
import { readSnapshotHeader, type SnapshotHeader, snapshotVersion } from "./snapshot-header.ts";

/** Two lines of JSON, compressed: the header, then a List of the objects. */
export function packSnapshot(header: SnapshotHeader, objects: readonly KubeObject[]): Uint8Array {
  const list = { apiVersion: "v1", kind: "List", items: objects };
  return gzipSync(`${JSON.stringify(header)}\n${JSON.stringify(list)}\n`);
}

const gzipMagic = [0x1f, 0x8b] as const;

export function isGzip(bytes: Uint8Array): boolean {
  return gzipMagic.every((byte, index) => bytes[index] === byte);
}

/** A thousand bytes may unpack to a million: a snapshot of the largest clusters there are stays below this. */
export const maxUnpackedBytes = 256 * 1024 * 1024;

export type GzipContents = { readonly bytes: Uint8Array } | { readonly refused: string };

export function unpackGzip(bytes: Uint8Array, maxBytes = maxUnpackedBytes): GzipContents {
  try {
    return { bytes: gunzipSync(bytes, { maxOutputLength: maxBytes }) };
  } catch (error) {
    if (errorCodeOf(error) !== "ERR_BUFFER_TOO_LARGE") {
      const why = errorMessage(error);
      return { refused: `this is a gzip archive that cannot be unpacked (${why}): it is cut short or damaged` };
    }
    return { refused: `this is a gzip archive of more than the ${maxBytes / 1024 / 1024} MiB we unpack` };
  }
}

export type SnapshotReading =
  | { readonly header: SnapshotHeader; readonly documents: readonly ManifestDocument[] }
  | { readonly refused: string };

/** The snapshot a text is; undefined where it is something else. */
export function readSnapshot(text: string, source: string): SnapshotReading | undefined {
  const end = text.indexOf("\n");
  const header = end < 0 ? undefined : readSnapshotHeader(text.slice(0, end));
  if (header === undefined) return undefined;
  if (header.version !== snapshotVersion) {
    return {
      refused: `this is a snapshot of version ${header.version}, and we read version ${snapshotVersion}: use the karpenter that made it`,
    };
  }
  const items = itemsOf(text.slice(end + 1));
  if (items === undefined) return { refused: "this is a snapshot without its list of objects: it is cut short" };
  return { header, documents: items.map((object) => objectDocument(object, source)) };
}

function itemsOf(text: string): readonly KubeObject[] | undefined {
  if (text.includes('"__proto__"')) return undefined; // nothing of ours is called that
  try {
    const list: unknown = JSON.parse(text);
    const items = isRecord(list) ? list["items"] : undefined;
    return Array.isArray(items) && items.every(isObject) ? items : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is KubeObject {
  return isRecord(value) && typeof value["kind"] === "string" && isRecord(value["metadata"]);
}

/** An object that no person wrote down: what is said of it names it, for there is no line to jump to. */
export function objectDocument(object: KubeObject, source: string): ManifestDocument {
  const place = `${source}#${object.kind}/${object.metadata.namespace ? namespacedName(object.metadata) : object.metadata.name}`;
  return {
    source: place,
    object,
    get yaml() {
      return new Document(object);
    },
    text: undefined,
    locationOf: () => ({ source: place, ...fileStartPosition }),
  };
}
