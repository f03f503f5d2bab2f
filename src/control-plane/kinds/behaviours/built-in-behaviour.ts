import type { Admission } from "../../../api/admission.ts";
import type { FieldSchema } from "../../../api/kubernetes/field-schema.ts";
import { metadataProblems } from "../../../api/metadata.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { PatternCache } from "../../../api/structural/validate.ts";
import { dnsLabelError } from "../../../api/validation/names.ts";
import { causeOf, invalidValue, type StatusCause } from "../../api/api-errors.ts";
import { type DecodedFields, decodeFields } from "../decode-fields.ts";
import type { JsonObject, ObjectDraft } from "../object-draft.ts";
import type { KindBehaviour } from "../served-kind.ts";

/** What is special about one built-in kind. */
export interface KindTraits extends Partial<Omit<KindBehaviour, "decode" | "validate" | "updateStatus">> {
  /** Sets defaults of a status. */
  completeStatus?(draft: ObjectDraft, old: KubeObject): void;
  /** Status fields written even when zero. */
  readonly emptyStatus?: Readonly<JsonObject>;
  /** Validates a decoded object, apart from its metadata. */
  check?(draft: ObjectDraft, old: KubeObject | undefined, admission: Admission): readonly StatusCause[];
}

interface BuiltInOptions {
  readonly fields: FieldSchema;
  readonly kind: string;
  readonly version: string;
  readonly traits: KindTraits;
  readonly patterns: PatternCache;
  readonly admission: Admission;
}

/** The behaviour of a built-in kind. */
export function builtInBehaviour(options: BuiltInOptions): KindBehaviour {
  const { fields, kind, version, traits, patterns, admission } = options;
  const { check, emptyStatus = {}, completeStatus, ...rest } = traits;
  const nameStyle = traits.nameStyle ?? "subdomain";
  const what = `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}`;
  return {
    countsGenerations: false,
    hasStatus: false,
    statusCarriesMetadata: true,
    ...rest,
    nameStyle,
    defaults: (draft, context) => {
      if (rest.hasStatus === true) draft.status = { ...emptyStatus, ...draft.status };
      rest.defaults?.(draft, context);
    },
    updateStatus: (draft, old) => {
      draft.status = { ...emptyStatus, ...draft.status };
      completeStatus?.(draft, old);
      return metadataCauses(draft, { nameStyle, patterns });
    },
    decode: (object): DecodedFields => decodeFields(object, fields, what),
    validate: (draft, old) => ({
      draft,
      causes: [...metadataCauses(draft, { nameStyle, patterns }), ...(check?.(draft, old, admission) ?? [])],
    }),
  };
}

function metadataCauses(
  draft: ObjectDraft,
  { nameStyle, patterns }: { nameStyle: KindBehaviour["nameStyle"]; patterns: PatternCache },
): readonly StatusCause[] {
  const problems = metadataProblems(draft, patterns).filter(
    ({ path, code }) => !(nameStyle === "path" && path[1] === "name" && code !== "required"),
  );
  const causes = problems.map((problem) => causeOf(problem, draft));
  const { name = "" } = draft.metadata;
  const labelError = nameStyle === "label" && causes.length === 0 ? dnsLabelError(name) : undefined;
  if (labelError !== undefined) causes.push(invalidValue(["metadata", "name"], name, labelError));
  const isBadSegment = name === "." || name === ".." || /[/%]/.test(name);
  if (nameStyle === "path" && isBadSegment) {
    causes.push(invalidValue(["metadata", "name"], name, "it must not be '.' or '..' or hold '/' or '%'"));
  }
  return causes;
}
