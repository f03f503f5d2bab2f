import { BuiltInFields } from "../../api/kubernetes/built-in-fields.ts";
import { anyFieldSchema } from "../../api/kubernetes/field-schema.ts";
import { PatternCache } from "../../api/structural/validate.ts";
import { builtInBehaviour } from "./behaviours/built-in-behaviour.ts";
import { type BuiltInKindGroup, type BuiltInKindRow, builtInKindTable } from "./built-in-kind-table.ts";
import { type ServedKind, verbs } from "./served-kind.ts";

/** The built-in kinds of Kubernetes that we serve. */
export function builtInKinds(): readonly ServedKind[] {
  const fields = new BuiltInFields();
  const patterns = new PatternCache();
  return builtInKindTable.flatMap((group) => group.rows.map((row) => servedKind(group, row, { fields, patterns })));
}

function servedKind(
  { group, version, definitions }: BuiltInKindGroup,
  row: BuiltInKindRow,
  { fields, patterns }: { fields: BuiltInFields; patterns: PatternCache },
): ServedKind {
  const { kind, plural, scope, traits = {} } = row;
  const schema = definitions === "" ? anyFieldSchema : fields.definition(`${definitions}.${kind}`);
  return {
    group,
    version,
    kind,
    plural,
    namespaced: scope === "namespaced",
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    shortNames: row.shortNames ?? [],
    categories: row.categories ?? [],
    subresources: row.subresources ?? [],
    verbs: row.verbs ?? verbs,
    storage: row.storage ?? (group === "" ? plural : `${plural}.${group}`),
    fields: schema,
    selectableFields: row.selectable ?? [],
    behaviour: builtInBehaviour({ fields: schema, kind, version, traits, patterns }),
    ...(row.scale && { scale: row.scale }),
    ...(row.conversion && { conversion: row.conversion }),
  };
}
