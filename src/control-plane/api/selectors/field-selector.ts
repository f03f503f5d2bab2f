import { isRecord, type KubeObject } from "../../../api/object.ts";
import { shortText } from "../../../api/validation/names.ts";
import type { ServedKind } from "../../kinds/served-kind.ts";
import { badRequest, resourceName } from "../api-errors.ts";

/** One term of a field selector, as `field=value`. */
export interface FieldTerm {
  readonly field: string;
  readonly path: readonly string[];
  readonly value: string;
  readonly isEqual: boolean;
}

/** `metadata.name=a,status.phase!=Failed`; commas, equal signs and backslashes in values are escaped. */
export function parseFieldSelector(text: string | undefined, kind: ServedKind): readonly FieldTerm[] {
  if (text === undefined || text.trim() === "") return [];
  return split(text)
    .filter((part) => part !== "")
    .map((part) => {
      const term = parseTerm(part);
      if (!isSelectable(term.field, kind)) {
        throw badRequest(
          `Unable to find ${JSON.stringify(resourceName(kind))} that match field selector ` +
            `${JSON.stringify(shortText(text))}: field label not supported: ${shortText(term.field)}`,
        );
      }
      return term;
    });
}

export function matchesFields(object: KubeObject, terms: readonly FieldTerm[]): boolean {
  for (const term of terms) if ((fieldText(object, term) === term.value) !== term.isEqual) return false;
  return true;
}

function isSelectable(field: string, { selectableFields, namespaced }: ServedKind): boolean {
  return (
    field === "metadata.name" || (field === "metadata.namespace" && namespaced) || selectableFields.includes(field)
  );
}

function fieldText(object: KubeObject, { field, path }: FieldTerm): string {
  let value: unknown = object;
  for (const step of path) value = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  if (value === undefined && booleanFields.has(field)) return "false";
  if (value === undefined && countFields.has(field)) return "0";
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** A field that is absent counts as false. */
const booleanFields: ReadonlySet<string> = new Set(["spec.unschedulable", "spec.hostNetwork"]);
const countFields: ReadonlySet<string> = new Set(["status.replicas", "status.successful"]);

/** Splits at commas that are not escaped. */
function split(text: string): string[] {
  const parts: string[] = [];
  let part = "";
  for (let at = 0; at < text.length; at++) {
    const letter = text[at] as string;
    if (letter === "\\" && at + 1 < text.length) part += letter + text[++at];
    else if (letter === ",") {
      parts.push(part);
      part = "";
    } else part += letter;
  }
  parts.push(part);
  return parts;
}

function parseTerm(part: string): FieldTerm {
  const found = /^([^=!\\]+?)(==|!=|=)/.exec(part);
  if (found === null) throw badRequest(`invalid selector: ${JSON.stringify(shortText(part))}; can't understand it`);
  const [whole, field = "", operator] = found;
  const value = unescaped(part.slice(whole.length));
  return { field: field.trim(), path: field.trim().split("."), value, isEqual: operator !== "!=" };
}

function unescaped(value: string): string {
  let text = "";
  for (let at = 0; at < value.length; at++) {
    const letter = value[at] as string;
    if (letter !== "\\") {
      if (letter === "=")
        throw badRequest(`invalid field selector: unescaped '=' in value ${JSON.stringify(shortText(value))}`);
      text += letter;
      continue;
    }
    const next = value[++at];
    if (next !== "\\" && next !== "," && next !== "=") {
      throw badRequest(`invalid field selector: invalid escape sequence in ${JSON.stringify(shortText(value))}`);
    }
    text += next;
  }
  return text;
}
