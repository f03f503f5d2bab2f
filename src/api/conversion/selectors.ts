import { isRecord } from "../object.ts";
import type { FieldPath } from "../problem.ts";
import { type ConversionDraft, valueAt } from "./conversion-draft.ts";

/** v1alpha1 selectors are one map whose values may be comma lists; v1 has a list of terms. (01 §7.8) */

const idKeys = ["aws-ids", "aws::ids"];
const nameKey = "aws::name";
const ownerKey = "aws::owners";

type Term = Record<string, unknown>;

/** A selector may have more combinations than the 30 terms v1 allows. */
const maxTerms = 1000;

export function convertSelectorTerms(
  draft: ConversionDraft,
  { from, to }: { readonly from: FieldPath; readonly to: FieldPath },
): void {
  const selector = draft.sourceValue(from);
  if (selector === undefined) return;
  if (!isRecord(selector) || Object.values(selector).some((value) => typeof value !== "string" && value !== null)) {
    draft.addProblem({
      code: "type",
      rule: "01 §7.8",
      path: from,
      message: "must be a map of strings",
      expected: "tag: value",
    });
    return;
  }
  const terms = termsOf(draft, selector, from);
  if (terms.length > maxTerms) {
    draft.addProblem({
      code: "too-many",
      rule: "01 §7.8",
      path: from,
      message: "stands for more combinations than v1 can list",
      expected: "at most 30 terms",
    });
    return;
  }
  draft.setField(to, terms, from);
  for (const [key] of Object.entries(selector)) {
    const place = termPlace(terms, key);
    // What was written about a tag is written about it in the first term that has it.
    if (place !== undefined) draft.moves.push({ from: [...from, key], to: [...to, ...place] });
  }
}

/** The field of a term that a key of the selector became. */
function termPlace(terms: readonly Term[], key: string): FieldPath | undefined {
  const field = idKeys.includes(key) ? "id" : key === nameKey ? "name" : key === ownerKey ? "owner" : undefined;
  const path = field === undefined ? ["tags", key] : [field];
  const index = terms.findIndex((term) => valueAt(term, path) !== undefined);
  return index < 0 ? undefined : [index, ...path];
}

function termsOf(draft: ConversionDraft, selector: Record<string, unknown>, from: FieldPath): readonly Term[] {
  const lists = new Map(Object.entries(selector).map(([key, value]) => [key, commaSeparated(value)]));
  const ids = idKeys.flatMap((key) => lists.get(key) ?? []);
  // v1 does not allow an id together with other fields. (01:EC6)
  if (ids.length > 0) return idTerms(draft, { ids, selector, from });
  const tags = [...lists].filter(([key]) => key !== nameKey && key !== ownerKey && !idKeys.includes(key));
  for (const [key, words] of tags) if (words.length === 0) warnWildcard(draft, [...from, key]);
  const dimensions = [
    ...((lists.get(ownerKey) ?? []).length > 0 ? [(lists.get(ownerKey) ?? []).map((owner) => ({ owner }))] : []),
    ...((lists.get(nameKey) ?? []).length > 0 ? [(lists.get(nameKey) ?? []).map((name) => ({ name }))] : []),
    ...tags.map(([key, words]) => (words.length === 0 ? ["*"] : words).map((value) => ({ tags: { [key]: value } }))),
  ];
  return dimensions.length === 0 ? [] : termProduct(dimensions);
}

function idTerms(
  draft: ConversionDraft,
  about: { ids: readonly string[]; selector: Record<string, unknown>; from: FieldPath },
): readonly Term[] {
  const others = Object.keys(about.selector).filter((key) => !idKeys.includes(key));
  if (others.length > 0) {
    draft.warn({
      code: "field-dropped",
      path: about.from,
      message: `in v1 an id cannot be combined with other fields; dropped ${others.join(", ")}`,
      advice: "check that every id is still the one you want",
    });
  }
  return about.ids.map((id) => ({ id }));
}

function commaSeparated(value: unknown): readonly string[] {
  return String(value ?? "")
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

function warnWildcard(draft: ConversionDraft, path: FieldPath): void {
  draft.warn({
    code: "wildcard-assumed",
    path,
    message: "an empty value used to mean any value; wrote *",
    advice: "write the value that is meant",
  });
}

/** One term per combination of alternatives; stops when there are too many. */
function termProduct(dimensions: readonly (readonly Term[])[]): readonly Term[] {
  let terms: readonly Term[] = [{}];
  for (const alternatives of dimensions) {
    if (terms.length > maxTerms) return terms;
    terms = terms.flatMap((term) => alternatives.slice(0, maxTerms + 1).map((one) => joinedTerm(term, one)));
  }
  return terms;
}

function joinedTerm(a: Term, b: Term): Term {
  if (isRecord(a["tags"]) && isRecord(b["tags"])) return { ...a, tags: { ...a["tags"], ...b["tags"] } };
  return { ...a, ...b };
}
