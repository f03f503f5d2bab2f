import { structuralSchema } from "./crd.ts";
import { type KarpenterKind, karpenterKindOf } from "./kinds/karpenter-kinds.ts";
import type { Provider } from "./label-policy.ts";
import { metadataProblems } from "./metadata.ts";
import { isRecord } from "./object.ts";
import type { Problem } from "./problem.ts";
import { CelPrograms } from "./structural/cel.ts";
import type { RuleEstimate } from "./structural/cel-estimate.ts";
import { applyDefaults } from "./structural/defaults.ts";
import { prune } from "./structural/prune.ts";
import { validateRules } from "./structural/rules.ts";
import { type ScalePaths, scaleProblems } from "./structural/scale.ts";
import type { StructuralSchema } from "./structural/schema.ts";
import { PatternCache, validateSchema } from "./structural/validate.ts";

export interface AdmissionResult {
  /** A copy of the object as it would be stored: pruned and defaulted. */
  readonly object: unknown;
  /** Why it would be refused; empty: it would be stored. */
  readonly problems: readonly Problem[];
}

export interface AdmitOptions {
  /** The stored object, when this is an update. */
  readonly old?: unknown;
  /** Report unknown fields, as kubectl requests; otherwise they are dropped silently. */
  readonly strict?: boolean;
}

export interface SchemaAdmitOptions extends AdmitOptions {
  /** The paths of its replica counts, if it has the scale subresource. */
  readonly scale?: ScalePaths | undefined;
}

/** What an API server with our CRDs does to an object before it stores it: prune, default, schema, CEL. (01 §0.1) */
export class Admission {
  readonly #provider: Provider;
  readonly #schemas = new Map<KarpenterKind, StructuralSchema>();
  readonly #patterns = new PatternCache();
  readonly #programs = new CelPrograms();

  constructor(provider: Provider) {
    this.#provider = provider;
  }

  admit(object: unknown, options: AdmitOptions = {}): AdmissionResult {
    const kind = isRecord(object) ? karpenterKindOf(object["apiVersion"], object["kind"]) : undefined;
    if (kind === undefined) {
      return {
        object,
        problems: [{ code: "unknown-kind", path: ["kind"], message: "is not a known kind and version" }],
      };
    }
    return this.admitWithSchema(this.schema(kind), object, { ...options, scale: kind.scale });
  }

  schema(kind: KarpenterKind): StructuralSchema {
    const known = this.#schemas.get(kind);
    if (known !== undefined) return known;
    const schema = structuralSchema(kind, this.#provider);
    this.#schemas.set(kind, schema);
    return schema;
  }

  /** The same for any structural schema; the embedded API server admits custom resources with it. */
  admitWithSchema(
    schema: StructuralSchema,
    object: unknown,
    { old, strict = false, scale }: SchemaAdmitOptions,
  ): AdmissionResult {
    const pruned = prune(object, schema);
    applyDefaults(pruned.value, schema);
    const unknown = strict
      ? pruned.unknown.map((path): Problem => ({ code: "unknown-field", path, message: "is not a known field" }))
      : [];
    const found = [
      ...unknown,
      ...metadataProblems(pruned.value, this.#patterns),
      ...validateSchema(pruned.value, schema, this.#patterns),
      ...scaleProblems(pruned.value, scale),
    ];
    const problems = found.length > 0 ? found : validateRules({ object: pruned.value, old, schema }, this.#programs);
    return { object: pruned.value, problems };
  }

  /** What each rule of a schema can cost at most. */
  ruleEstimates(schema: StructuralSchema): readonly RuleEstimate[] {
    return this.#programs.estimates(schema);
  }
}

/** Admits one object. To check many, keep an `Admission`: it compiles schemas and rules only once. */
export function admit(object: unknown, options: AdmitOptions & { readonly provider: Provider }): AdmissionResult {
  return new Admission(options.provider).admit(object, options);
}
