import { gunzipSync, gzipSync } from "node:zlib";
import { Document } from "yaml";
import type { ManifestDocument } from "../../api/manifest/document.ts";
import { fileStartPosition } from "../../api/manifest/finding.ts";
import { manifestLimits } from "../../api/manifest/parse.ts";
import { isKubeObject, isRecord, type KubeObject, namespacedName } from "../../api/object.ts";
import { errorText } from "../../util/error-text.ts";
import { isDeeperThan } from "../../util/nesting.ts";
import { errorCodeOf } from "../io.ts";
import { readSnapshotHeader, type SnapshotHeader, snapshotVersion } from "./snapshot-header.ts";

/** Two lines of JSON, compressed: the header, then a List of the objects. */
export function packSnapshot(header: SnapshotHeader, objects: readonly KubeObject[]): Uint8Array {
  const list = { apiVersion: "v1", kind: "List", items: objects };
  return gzipSync(`${JSON.stringify(header)}\n${JSON.stringify(list)}\n`);
}

/** A limit against gzip bombs; snapshots of the largest clusters stay below it. */
const maxUnpackedBytes = 256 * 1024 * 1024;

export type GzipContents = { readonly bytes: Uint8Array } | { readonly refused: string };

export function unpackGzip(bytes: Uint8Array, maxBytes = maxUnpackedBytes): GzipContents {
  try {
    return { bytes: gunzipSync(bytes, { maxOutputLength: maxBytes }) };
  } catch (error) {
    if (errorCodeOf(error) !== "ERR_BUFFER_TOO_LARGE") {
      return { refused: `the gzip archive is truncated or damaged (${errorText(error)}); copy or download it again` };
    }
    return { refused: `the gzip archive unpacks to more than ${maxBytes / 1024 / 1024} MiB` };
  }
}

export type SnapshotReading =
  | { readonly header: SnapshotHeader; readonly documents: readonly ManifestDocument[] }
  | { readonly refused: string };

/** Reads a snapshot; undefined if the text is something else. */
export function readSnapshot(text: string, source: string): SnapshotReading | undefined {
  const end = text.indexOf("\n");
  const header = end < 0 ? undefined : readSnapshotHeader(text.slice(0, end));
  if (header === undefined) return undefined;
  if (header.version !== snapshotVersion) {
    return {
      refused: `snapshot version ${header.version} is not supported (expected ${snapshotVersion}); use the karpenter version that wrote it`,
    };
  }
  const items = itemsOf(text.slice(end + 1));
  if (items === undefined)
    return { refused: "the snapshot is truncated: it has no list of objects; write it again with karpenter snapshot" };
  return { header, documents: items.map((object) => objectDocument(object, source)) };
}

function itemsOf(text: string): readonly KubeObject[] | undefined {
  if (text.includes('"__proto__"')) return undefined; // no snapshot has such a field
  try {
    const list: unknown = JSON.parse(text);
    if (isDeeperThan(list, manifestLimits.depth)) return undefined; // no snapshot is nested that deep
    const items = isRecord(list) ? list["items"] : undefined;
    return Array.isArray(items) && items.every(isKubeObject) ? items : undefined;
  } catch {
    return undefined;
  }
}

/** A document for an object that has no source file; findings name the object instead of a line. */
export function objectDocument(object: KubeObject, source: string): ManifestDocument {
  const location = `${source}#${object.kind}/${object.metadata.namespace ? namespacedName(object.metadata) : object.metadata.name}`;
  return {
    source: location,
    object,
    get yaml() {
      return new Document(object);
    },
    text: undefined,
    locationOf: () => ({ source: location, ...fileStartPosition }),
  };
}
