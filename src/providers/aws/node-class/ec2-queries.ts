import type { Filter } from "@aws-sdk/client-ec2";

type SelectorTags = Readonly<Record<string, string>>;

/** All tags of a term must match; the value `*` means that the key is there. EC2 knows wildcards within values. (04 §1.5) */
export function tagFilters(tags: SelectorTags | undefined): Filter[] {
  return Object.entries(tags ?? {}).map(([key, value]) =>
    value === "*" ? filter("tag-key", key) : filter(`tag:${key}`, value),
  );
}

export function filter(Name: string, ...Values: string[]): Filter {
  return { Name, Values };
}

/** One of each id, in the order they were found. */
export function uniqueBy<T>(found: readonly T[], idOf: (item: T) => string | undefined): T[] {
  return [...new Map(found.map((item) => [idOf(item) ?? "", item])).values()];
}

/** The values of a field in all terms that have it. */
export function termValues<T>(terms: readonly T[], of: (term: T) => string | undefined): string[] {
  return terms.flatMap((term) => of(term) ?? []);
}
