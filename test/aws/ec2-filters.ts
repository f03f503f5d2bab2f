import type { Filter, Tag } from "@aws-sdk/client-ec2";

/** Values of an object by the name EC2 filters know them under. */
export type FilterFields = Readonly<Record<string, readonly (string | undefined)[]>>;

/** Whether every filter has a value that the object has; `*` and `?` are wildcards, as in EC2. */
export function matchesFilters(filters: readonly Filter[] | undefined, fields: FilterFields): boolean {
  return (filters ?? []).every(({ Name = "", Values = [] }) => {
    const own = fields[Name];
    if (own === undefined && !Name.startsWith("tag:")) throw new Error(`the fake does not know filter ${Name}`);
    return Values.some((pattern) => own?.some((value) => value !== undefined && wildcard(pattern).test(value)));
  });
}

/** `tag:KEY` and `tag-key`. */
export function tagFields(tags: readonly Tag[] | undefined): FilterFields {
  const own = tags ?? [];
  return {
    "tag-key": own.map(({ Key }) => Key),
    ...Object.fromEntries(own.map(({ Key, Value }) => [`tag:${Key}`, [Value]])),
  };
}

function wildcard(pattern: string): RegExp {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${escaped.replaceAll("*", ".*").replaceAll("?", ".")}$`, "s");
}
