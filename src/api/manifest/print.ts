import { type Document, isCollection } from "yaml";
import { newYamlDocument, withExactIntegers } from "./rewrite.ts";

/** An object to print: as it was written, or as a rewritten tree. */
export interface PrintableDocument {
  readonly object: unknown;
  readonly yaml: Document;
  /** Set when nothing was changed: then it is printed exactly as written. */
  readonly text: string | undefined;
}

/** Documents separated by `---`, in block style, with their comments. */
export function printYaml(documents: readonly PrintableDocument[]): string {
  return documents.map(yamlText).join("---\n");
}

/** One object as it is; several as a `List`, which kubectl applies too. */
export function printJson(documents: readonly PrintableDocument[]): string {
  const objects = documents.map(exactObject);
  const shown = objects.length === 1 ? objects[0] : { apiVersion: "v1", kind: "List", items: objects };
  return `${exactJson(shown)}\n`;
}

function exactObject({ object, yaml }: PrintableDocument): unknown {
  return withExactIntegers(object, yaml.contents);
}

/** JSON with all digits of bigints, which `JSON.stringify` refuses. */
function exactJson(value: unknown): string {
  const withBigInts = (shown: (integer: bigint) => unknown): string =>
    JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? shown(one) : one), 2);
  const plain = withBigInts(() => 0);
  let mark = "exact integer";
  while (plain.includes(mark)) mark += " "; // a mark that no text of the object contains
  return withBigInts((integer) => `${mark}:${integer}`).replaceAll(new RegExp(`"${mark}:(-?\\d+)"`, "g"), "$1");
}

function yamlText(document: PrintableDocument): string {
  // JSON among YAML documents is reformatted, because it would be one long line.
  if (document.text !== undefined && !document.text.trimStart().startsWith("{")) return document.text;
  const text = blockStyled(document).toString({ lineWidth: 0, flowCollectionPadding: false });
  return text.endsWith("\n") ? text : `${text}\n`;
}

/** A document that is one flow collection came from JSON. */
function blockStyled(document: PrintableDocument): Document {
  const { yaml } = document;
  return isCollection(yaml.contents) && yaml.contents.flow === true ? newYamlDocument(exactObject(document)) : yaml;
}
