import type { Admission } from "../../api/admission.ts";
import { type FieldSchema, fieldSchemaOf } from "../../api/kubernetes/field-schema.ts";
import { isRecord, type KubeObject } from "../../api/object.ts";
import { formatPath } from "../../api/problem.ts";
import { prune } from "../../api/structural/prune.ts";
import type { StructuralSchema } from "../../api/structural/schema.ts";
import { badRequest, causeOf } from "../api/api-errors.ts";
import { listAt, recordAt, textAt } from "../object-fields.ts";
import type { JsonObject, ObjectDraft } from "./object-draft.ts";
import {
  type CustomResourceColumn,
  type KindBehaviour,
  type KindConversion,
  type ScaleFields,
  type ServedKind,
  verbs,
} from "./served-kind.ts";

export interface CustomKindOptions {
  readonly admission: Admission;
  /** The fields of `metadata`, the same for every kind. */
  readonly metadata: FieldSchema;
}

/** The kinds of a CustomResourceDefinition: one per served version. */
export function customKinds(definition: KubeObject, options: CustomKindOptions): readonly ServedKind[] {
  const versions = listAt(definition.spec, "versions");
  const stored = versions.find((version) => version["storage"] === true);
  return versions
    .filter((version) => version["served"] === true)
    .map((version) => customKind(definition, { version, storedName: textAt(stored, "name"), ...options }));
}

interface VersionOptions extends CustomKindOptions {
  readonly version: JsonObject;
  readonly storedName: string;
}

function customKind(definition: KubeObject, { version, storedName, ...options }: VersionOptions): ServedKind {
  const names = recordAt(definition.spec, "names") ?? {};
  const schema = (recordAt(version, "schema", "openAPIV3Schema") ?? {}) as StructuralSchema;
  const group = textAt(definition.spec, "group");
  const kind = textAt(names, "kind");
  const name = textAt(version, "name");
  const hasStatus = recordAt(version, "subresources", "status") !== undefined;
  const scale = scaleFields(recordAt(version, "subresources", "scale"));
  const deprecation = version["deprecated"] === true ? deprecationOf({ group, name, kind, version }) : undefined;
  return {
    group,
    version: name,
    kind,
    plural: textAt(names, "plural"),
    namespaced: textAt(definition.spec, "scope") === "Namespaced",
    singular: textAt(names, "singular") || kind.toLowerCase(),
    listKind: textAt(names, "listKind") || `${kind}List`,
    shortNames: texts(names["shortNames"]),
    categories: texts(names["categories"]),
    subresources: [...(scale === undefined ? [] : (["scale"] as const)), ...(hasStatus ? (["status"] as const) : [])],
    verbs,
    storage: `${textAt(names, "plural")}.${group}`,
    fields: fieldSchemaOf(schema, options.metadata),
    selectableFields: listAt(version, "selectableFields").map((field) => textAt(field, "jsonPath").replace(/^\./, "")),
    behaviour: customBehaviour({ schema, hasStatus, scale, kind, admission: options.admission }),
    custom: {
      definition: definition.metadata.name ?? "",
      columns: listAt(version, "additionalPrinterColumns") as unknown as readonly CustomResourceColumn[],
      schema: schema as JsonObject,
    },
    ...(scale && { scale }),
    ...(name === storedName ? {} : { conversion: renaming(`${group}/${name}`, `${group}/${storedName}`) }),
    ...(deprecation && { deprecation }),
  };
}

interface CustomBehaviourOptions {
  readonly schema: StructuralSchema;
  readonly hasStatus: boolean;
  readonly scale: ScaleFields | undefined;
  readonly kind: string;
  readonly admission: Admission;
}

function customBehaviour({ schema, hasStatus, scale, kind, admission }: CustomBehaviourOptions): KindBehaviour {
  const paths = scale && { specReplicasPath: `.${scale.specReplicas}`, statusReplicasPath: `.${scale.statusReplicas}` };
  return {
    countsGenerations: true,
    hasStatus,
    needsVersionToUpdate: true,
    nameStyle: "subdomain",
    decode: (object) => {
      if (!isRecord(object)) throw badRequest(`${kind} cannot be read: expected an object`);
      const { value, unknown } = prune(object, schema);
      return { value, unknown: unknown.map(formatPath) };
    },
    validate: (draft, old) => {
      const { object, problems } = admission.admitWithSchema(schema, draft, { old, scale: paths });
      return { draft: object as ObjectDraft, causes: problems.map((problem) => causeOf(problem, object)) };
    },
  };
}

/** Without a conversion webhook, versions differ in apiVersion only. */
function renaming(here: string, stored: string): KindConversion {
  const named = (object: unknown, apiVersion: string) => ({ ...(object as JsonObject), apiVersion });
  return {
    toStored: (object) => ({ object: isRecord(object) ? named(object, stored) : object, warnings: [] }),
    fromStored: (object) => ({ object: named(object, here), warnings: [] }),
  };
}

function deprecationOf({
  group,
  name,
  kind,
  version,
}: {
  group: string;
  name: string;
  kind: string;
  version: JsonObject;
}): string {
  return textAt(version, "deprecationWarning") || `${group}/${name} ${kind} is deprecated`;
}

function scaleFields(scale: JsonObject | undefined): ScaleFields | undefined {
  if (scale === undefined) return undefined;
  const dotted = (field: string) => textAt(scale, field).replace(/^\./, "");
  const selector = dotted("labelSelectorPath");
  return {
    specReplicas: dotted("specReplicasPath"),
    statusReplicas: dotted("statusReplicasPath"),
    ...(selector === "" ? {} : { selector }),
  };
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}
