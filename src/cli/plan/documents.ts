import type { ManifestDocument } from "../../api/manifest/document.ts";
import { fileStartPosition } from "../../api/manifest/finding.ts";
import { manifestLimits } from "../../api/manifest/parse.ts";
import { listItems, type ManifestSet, readManifests } from "../../api/manifest/read.ts";
import { isDeeperThan } from "../../util/nesting.ts";
import { quickYaml } from "./quick-yaml.ts";

/** Longer texts are read without positions first; positions are worked out only when a finding needs one. */
const longTextChars = 64 * 1024;

/** As `readManifests`, but faster on long texts: the syntax tree is built only if a position or comment is needed. */
export function readDocuments(contents: string, source: string): ManifestSet {
  const text = contents.startsWith("\uFEFF") ? contents.slice(1) : contents;
  const values = text.length < longTextChars ? undefined : quickParse(text);
  const objects = values
    ?.flatMap((value) => listItems(value)?.map(({ item }) => item) ?? [value])
    .filter((value) => value !== null);
  if (objects === undefined || objects.length === 0) return readManifests(text, source);

  let parsed: readonly ManifestDocument[] | undefined;
  const fullDocument = (index: number): ManifestDocument | undefined => {
    parsed ??= readManifests(text, source).documents;
    return parsed.length === objects.length ? parsed[index] : undefined;
  };
  return {
    documents: objects.map((object, index) => lazyDocument(object, { source, full: () => fullDocument(index) })),
    findings: [],
  };
}

function quickParse(text: string): readonly unknown[] | undefined {
  if (!text.trimStart().startsWith("{")) return quickYaml(text);
  try {
    if (text.includes('"__proto__"')) return undefined;
    const value: unknown = JSON.parse(text);
    return isDeeperThan(value, manifestLimits.depth) ? undefined : [value]; // the full parser says where it is too deep
  } catch {
    return quickYaml(text); // several JSON documents, or YAML in flow style
  }
}

function lazyDocument(
  object: unknown,
  { source, full }: { source: string; full: () => ManifestDocument | undefined },
): ManifestDocument {
  return {
    source,
    object,
    get yaml() {
      const document = full();
      if (document === undefined)
        throw new Error(`${source}: the YAML parser reads other documents than the quick reader`);
      return document.yaml;
    },
    get text() {
      return full()?.text;
    },
    locationOf: (path) => full()?.locationOf(path) ?? { source, ...fileStartPosition },
  };
}
