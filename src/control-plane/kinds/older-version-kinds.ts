import type { ConversionOptions } from "../../api/conversion/conversion.ts";
import { toV1 } from "../../api/conversion/to-v1.ts";
import { toV1beta1 } from "../../api/conversion/to-v1beta1.ts";
import { anyFieldSchema } from "../../api/kubernetes/field-schema.ts";
import { groups } from "../../api/labels.ts";
import { isRecord, type KubeObject } from "../../api/object.ts";
import { formatPath } from "../../api/problem.ts";
import { badRequest, causeOf, invalidObject, type QualifiedResource } from "../api/api-errors.ts";
import type { KindConversion, KindConversionResult, ServedKind, Verb } from "./served-kind.ts";

/** Kinds of the alpha versions, by the kind they are stored as. They can be written and not read. (01 §7.1) */
const alphaKinds: Readonly<Record<string, Pick<ServedKind, "group" | "version" | "kind" | "plural">>> = {
  [`${groups.karpenter}/v1 NodePool`]: {
    group: groups.karpenter,
    version: "v1alpha5",
    kind: "Provisioner",
    plural: "provisioners",
  },
  [`${groups.aws}/v1 EC2NodeClass`]: {
    group: groups.aws,
    version: "v1alpha1",
    kind: "AWSNodeTemplate",
    plural: "awsnodetemplates",
  },
};

const kindsWithBeta: readonly string[] = [
  `${groups.karpenter}/v1 NodePool`,
  `${groups.karpenter}/v1 NodeClaim`,
  `${groups.aws}/v1 EC2NodeClass`,
];

const alphaVerbs: readonly Verb[] = ["create", "delete", "get", "list", "patch", "update"];

/** Older versions of our kinds, for existing manifests. (05, 01 §7) */
export function olderVersionKinds(kinds: readonly ServedKind[], options: ConversionOptions): readonly ServedKind[] {
  return kinds.flatMap((kind) => {
    const name = `${kind.group}/${kind.version} ${kind.kind}`;
    const servesBeta = kinds.some(({ version }) => version === "v1beta1");
    const alpha = Object.hasOwn(alphaKinds, name) ? alphaKinds[name] : undefined;
    return [
      ...(kindsWithBeta.includes(name) && !servesBeta ? [betaKind(kind, options)] : []),
      ...(alpha === undefined ? [] : [alphaKind(kind, alpha, options)]),
    ];
  });
}

function betaKind(kind: ServedKind, options: ConversionOptions): ServedKind {
  const subject = { ...kind, version: "v1beta1" };
  return {
    ...subject,
    fields: anyFieldSchema,
    conversion: {
      ...storedConversion(subject, { ...options, roundTrip: true }),
      fromStored: (object) => converted(toV1beta1([object])),
    },
    deprecation: `${kind.group}/v1beta1 ${kind.kind} is deprecated; use ${kind.group}/v1 ${kind.kind}`,
  };
}

function alphaKind(
  kind: ServedKind,
  alpha: Pick<ServedKind, "group" | "version" | "kind" | "plural">,
  options: ConversionOptions,
): ServedKind {
  return {
    ...kind,
    ...alpha,
    singular: alpha.kind.toLowerCase(),
    listKind: `${alpha.kind}List`,
    shortNames: [],
    categories: [],
    subresources: [],
    verbs: alphaVerbs,
    fields: anyFieldSchema,
    conversion: storedConversion(alpha, options),
    deprecation:
      `${alpha.group}/${alpha.version} ${alpha.kind} is no longer served; ` +
      `it is stored as ${kind.group}/${kind.version} ${kind.kind} of the same name`,
  };
}

function storedConversion(subject: QualifiedResource, options: ConversionOptions): KindConversion {
  return {
    toStored: (object) => {
      const conversion = toV1([object], options);
      const { problems } = conversion;
      if (problems.length > 0) {
        const name = isRecord(object) && isRecord(object["metadata"]) ? object["metadata"]["name"] : "";
        throw invalidObject(
          subject,
          String(name ?? ""),
          problems.map((problem) => causeOf(problem, object)),
        );
      }
      return converted(conversion);
    },
  };
}

function converted({ objects, warnings }: ReturnType<typeof toV1>): KindConversionResult {
  const [main, ...rest] = objects;
  if (main === undefined) throw badRequest("the object cannot be converted");
  return {
    object: main.object as KubeObject,
    warnings: warnings.map(({ path, message, advice }) => {
      const place = formatPath(path);
      return `${place === "" ? "" : `${place}: `}${message}; ${advice}`;
    }),
    additionalObjects: rest.map(({ object }) => object),
  };
}
