import { toJSONSchema } from "zod";
import type { KarpenterKind } from "./kinds/karpenter-kinds.ts";
import type { Provider } from "./label-policy.ts";
import type { StructuralSchema } from "./structural/schema.ts";

/** A CustomResourceDefinition with the fields we write. */
export interface CustomResourceDefinition {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly kind: "CustomResourceDefinition";
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly names: Readonly<Record<string, unknown>> & { readonly plural: string };
    readonly scope: KarpenterKind["scope"];
    readonly versions: readonly CrdVersion[];
  };
}

export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly additionalPrinterColumns?: KarpenterKind["printerColumns"];
  readonly schema: { readonly openAPIV3Schema: StructuralSchema };
  readonly subresources: Readonly<Record<string, unknown>>;
}

/** The structural schema of a kind, from its zod schema. It keeps our rule ids, which CRDs do not have. */
export function structuralSchema(kind: KarpenterKind, provider: Provider): StructuralSchema {
  const { $schema: _, ...schema } = toJSONSchema(kind.schema(provider), {
    target: "openapi-3.0",
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema }) => tidy(jsonSchema as Record<string, unknown>),
  }) as Record<string, unknown>;
  return schema as StructuralSchema;
}

/** Removes what zod writes and a structural schema does not allow. */
function tidy(schema: Record<string, unknown>): void {
  if (schema["minimum"] === Number.MIN_SAFE_INTEGER) delete schema["minimum"];
  if (schema["maximum"] === Number.MAX_SAFE_INTEGER) delete schema["maximum"];
  if (schema["x-kubernetes-int-or-string"] === true) schema["anyOf"] = [{ type: "integer" }, { type: "string" }];
  if (schema["x-kubernetes-preserve-unknown-fields"] === true) delete schema["additionalProperties"];
}

/** The CRD of a kind with a provider's label rules. (01 §1.1) */
export function customResourceDefinition(kind: KarpenterKind, provider: Provider): CustomResourceDefinition {
  const { group, plural, singular, shortNames, categories, scope } = kind;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        categories,
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural,
        ...(shortNames.length > 0 ? { shortNames } : {}),
        singular,
      },
      scope,
      versions: [version(kind, provider)],
    },
  };
}

function version(kind: KarpenterKind, provider: Provider): CrdVersion {
  return {
    name: kind.version,
    served: true,
    storage: true,
    ...(kind.printerColumns.length > 0 ? { additionalPrinterColumns: kind.printerColumns } : {}),
    schema: { openAPIV3Schema: withoutRuleIds(structuralSchema(kind, provider)) },
    subresources: { status: {}, ...(kind.scale === undefined ? {} : { scale: kind.scale }) },
  };
}

function withoutRuleIds(schema: StructuralSchema): StructuralSchema {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === "x-kubernetes-validations" ? stripIds(value) : value,
  );
  return JSON.parse(text) as StructuralSchema;
}

function stripIds(rules: unknown): unknown {
  return Array.isArray(rules) ? rules.map(({ id: _, ...rule }: Record<string, unknown>) => rule) : rules;
}
