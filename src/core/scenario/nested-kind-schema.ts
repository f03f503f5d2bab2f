import type { BuiltInFields } from "../../api/kubernetes/built-in-fields.ts";
import { anyFieldSchema, type FieldSchema, type ObjectFieldSchema } from "../../api/kubernetes/field-schema.ts";
import { eachItem, eachValue, type NestedKind, type TemplateStep } from "./nested-parts.ts";

/** As much of a kind as planning reads: its pod templates and the numbers of pods; whatever else it has is its own. */
export function nestedKindSchema({ parts }: NestedKind, fields: BuiltInFields): ObjectFieldSchema {
  const template = fields.definition("core.v1.PodTemplateSpec");
  const paths = parts.flatMap(({ at, template: own, orTemplate, makeTemplate, counts }) => [
    // What is completed by the kind's controller may lack what every other pod has.
    { steps: [...at, ...own], schema: makeTemplate === undefined ? template : anyFieldSchema },
    ...(orTemplate === undefined ? [] : [{ steps: [...at, ...orTemplate], schema: template }]),
    ...counts.map((count) => ({ steps: [...at, ...count], schema: countSchema })),
  ]);
  const spec = schemaOf([...paths, { steps: ["replicas"], schema: countSchema }]);
  return objectSchema("NestedKind", (name) => {
    if (name === "metadata") return fields.definition("meta.v1.ObjectMeta");
    return name === "spec" ? spec : anyFieldSchema;
  });
}

interface SchemaPath {
  readonly steps: readonly TemplateStep[];
  readonly schema: FieldSchema;
}

const countSchema: FieldSchema = { is: "int32" };

function schemaOf(paths: readonly SchemaPath[]): FieldSchema {
  const [first] = paths;
  if (first === undefined) return anyFieldSchema;
  const [step] = first.steps;
  if (step === undefined) return first.schema;
  const rest = paths.map(({ steps, schema }) => ({ steps: steps.slice(1), schema }));
  if (step === eachItem) return { is: "list", of: schemaOf(rest), identity: "atomic" };
  if (step === eachValue) return { is: "map", of: schemaOf(rest), isAtomic: false };
  const names = new Set(paths.map(({ steps }) => steps[0]));
  const known = new Map(
    [...names].map((name) => [
      name,
      schemaOf(
        paths.filter(({ steps }) => steps[0] === name).map(({ steps, schema }) => ({ steps: steps.slice(1), schema })),
      ),
    ]),
  );
  return objectSchema("NestedPart", (name) => known.get(name) ?? anyFieldSchema);
}

function objectSchema(definition: string, field: (name: string) => FieldSchema): ObjectFieldSchema {
  return { is: "object", definition, isAtomic: false, field };
}
