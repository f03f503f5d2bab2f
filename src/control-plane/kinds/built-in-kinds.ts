import { Patterns } from "../../api/structural/validate.ts";
import { builtInBehaviour } from "./behaviours/built-in.ts";
import { builtInTable, type Group, type Row } from "./built-in-table.ts";
import { anything } from "./field-schema.ts";
import { BuiltInFields } from "./fields.ts";
import { type ServedKind, verbs } from "./kind.ts";

/** Every kind Kubernetes itself brings, as far as we serve it. */
export function builtInKinds(): readonly ServedKind[] {
  const fields = new BuiltInFields();
  const patterns = new Patterns();
  return builtInTable.flatMap((group) => group.rows.map((row) => served(group, row, { fields, patterns })));
}

function served(
  { group, version, definitions }: Group,
  row: Row,
  { fields, patterns }: { fields: BuiltInFields; patterns: Patterns },
): ServedKind {
  const { kind, plural, scope, traits = {} } = row;
  const schema = definitions === "" ? anything : fields.definition(`${definitions}.${kind}`);
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
