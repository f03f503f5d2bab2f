import type { Admission } from "../../api/admission.ts";
import { type BuiltInFields, builtInDefinition } from "../../api/kubernetes/built-in-fields.ts";
import { anyFieldSchema } from "../../api/kubernetes/field-schema.ts";
import { PatternCache } from "../../api/structural/validate.ts";
import { builtInBehaviour } from "./behaviours/built-in-behaviour.ts";
import { type BuiltInKindGroup, type BuiltInKindRow, builtInKindTable } from "./built-in-kind-table.ts";
import type { ServedKind } from "./served-kind.ts";

export interface BuiltInKindsOptions {
  readonly fields: BuiltInFields;
  readonly admission: Admission;
}

/** The built-in kinds of Kubernetes that we serve. */
export function builtInKinds(options: BuiltInKindsOptions): readonly ServedKind[] {
  const shared = { ...options, patterns: new PatternCache() };
  return builtInKindTable.flatMap((group) => group.rows.map((row) => servedKind(group, row, shared)));
}

function servedKind(
  { group, version }: BuiltInKindGroup,
  row: BuiltInKindRow,
  { fields, admission, patterns }: BuiltInKindsOptions & { readonly patterns: PatternCache },
): ServedKind {
  const { traits = {}, selectable = [], storage, ...names } = row;
  const { kind, plural } = names;
  const definition = builtInDefinition({ group, version, kind });
  const schema = fields.has(definition) ? fields.definition(definition) : anyFieldSchema; // metrics are not in the table
  return {
    ...names,
    group,
    version,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    storage: storage ?? (group === "" ? plural : `${plural}.${group}`),
    fields: schema,
    selectableFields: selectable,
    behaviour: builtInBehaviour({ fields: schema, kind, version, traits, patterns, admission }),
  };
}
