import type { ManifestDocument } from "../../api/manifest/document.ts";
import { fileStartPosition } from "../../api/manifest/finding.ts";
import { type ManifestSet, readManifests } from "../../api/manifest/read.ts";
import { isRecord } from "../../api/object.ts";
import { quickYaml } from "./quick-yaml.ts";

/** From this many characters on it is worth reading values first, and places only when somebody asks for one. */
const longTextChars = 64 * 1024;

/** As `readManifests`, but quicker on long texts: the syntax tree is made only if a place or a comment is needed. */
export function readDocuments(contents: string, source: string): ManifestSet {
  const text = contents.startsWith("\uFEFF") ? contents.slice(1) : contents;
  const values = text.length < longTextChars ? undefined : quickParse(text);
  const objects = values?.flatMap(unwrappedLists).filter((value) => value !== null);
  if (objects === undefined || objects.length === 0) return readManifests(text, source);

  let slow: readonly ManifestDocument[] | undefined;
  const inFull = (index: number): ManifestDocument | undefined => {
    slow ??= readManifests(text, source).documents;
    return slow.length === objects.length ? slow[index] : undefined;
  };
  return { documents: objects.map((object, index) => lazyDocument(object, { index, source, inFull })), findings: [] };
}

function quickParse(text: string): readonly unknown[] | undefined {
  if (!text.trimStart().startsWith("{")) return quickYaml(text);
  try {
    return text.includes('"__proto__"') ? undefined : [JSON.parse(text)];
  } catch {
    return quickYaml(text); // several JSON documents, or YAML after all
  }
}

/** `kind: List` and typed lists, lists in lists too. */
function unwrappedLists(value: unknown): readonly unknown[] {
  if (!isRecord(value) || typeof value["kind"] !== "string" || !value["kind"].endsWith("List")) return [value];
  return Array.isArray(value["items"]) ? value["items"].flatMap(unwrappedLists) : [value];
}

interface LazyDocumentOptions {
  readonly index: number;
  readonly source: string;
  readonly inFull: (index: number) => ManifestDocument | undefined;
}

function lazyDocument(object: unknown, { index, source, inFull }: LazyDocumentOptions): ManifestDocument {
  return {
    source,
    object,
    get yaml() {
      const document = inFull(index);
      if (document === undefined) throw new Error(`${source} cannot be read in full`);
      return document.yaml;
    },
    get text() {
      return inFull(index)?.text;
    },
    locationOf: (path) => inFull(index)?.locationOf(path) ?? { source, ...fileStartPosition },
  };
}
