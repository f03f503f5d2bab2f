import { type Case, type Changes, casesFor, show } from "./case.ts";

export const { accept, refuse, acceptUpdate } = casesFor("EC2NodeClass");

/** Values of one field by title. Each title names the rule that decides. */
export type Table = Readonly<Record<string, unknown>>;

/** Cases that differ in one field alone; `beside` is what must stand next to it. */
export function field(path: string, beside: Changes = {}) {
  // A fresh `beside` each time: the change at `path` may reach into it.
  const cases = (make: typeof accept, table: Table): readonly Case[] =>
    Object.entries(table).map(([title, value]) => make(title, { ...structuredClone(beside), [path]: value }));
  return {
    accepts: (table: Table) => cases(accept, table),
    refuses: (table: Table) => cases(refuse, table),
  };
}

interface Range {
  readonly min: number;
  readonly max?: number;
  readonly beside?: Changes;
}

/** A number at both of its bounds, and one past each. */
export function range(path: string, { min, max, beside = {} }: Range): readonly Case[] {
  const { accepts, refuses } = field(path, beside);
  const name = `${section(path)} ${shorten(path)}`;
  return [
    ...accepts({ [`${name} ${min}`]: min }),
    ...refuses({ [`${name} ${min - 1}`]: min - 1 }),
    ...(max === undefined ? [] : accepts({ [`${name} ${max}`]: max })),
    ...(max === undefined ? [] : refuses({ [`${name} ${max + 1}`]: max + 1 })),
  ];
}

interface Choice {
  readonly of: readonly string[];
  readonly not: readonly string[];
  readonly beside?: Changes;
}

/** Each value of a closed set, and some that are not in it. */
export function choice(path: string, { of, not, beside = {} }: Choice): readonly Case[] {
  const { accepts, refuses } = field(path, beside);
  const titled = (values: readonly string[]): Table =>
    Object.fromEntries(values.map((value) => [`${section(path)} ${shorten(path)} ${JSON.stringify(value)}`, value]));
  return [...accepts(titled(of)), ...refuses(titled(not))];
}

interface Length {
  readonly most: number;
  /** A list or map with so many entries. */
  readonly of: (count: number) => unknown;
  readonly beside?: Changes;
}

/** A list or map as long as it may be, and one longer. */
export function atMost(path: string, { most, of, beside = {} }: Length): readonly Case[] {
  const { accepts, refuses } = field(path, beside);
  const name = `${section(path)} ${shorten(path)}`;
  return [
    ...accepts({ [`${name} with ${most} entries`]: of(most) }),
    ...refuses({ [`${name} with ${most + 1} entries`]: of(most + 1) }),
  ];
}

/** Values of the wrong type by path, each the only thing wrong with its object. */
export function wrongTypes(wrong: Table, beside: Changes = {}): readonly Case[] {
  return Object.entries(wrong).flatMap(([path, value]) =>
    field(path, beside).refuses({ [`${section(path)} type of ${path}: ${show(value)}`]: value }),
  );
}

export function list<T>(count: number, make: (index: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

export function tagsOf(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(list(count, (index) => [`tag-${index}`, "x"] as const));
}

/** `spec.metadataOptions.httpTokens` → `metadataOptions.httpTokens`. */
function shorten(path: string): string {
  return path.replace(/^(spec|status)\./, "");
}

function section(path: string): string {
  return path.startsWith("status") ? "01 §1.6.3" : "01 §1.6.1";
}
