import { groups } from "../labels.ts";
import { isRecord } from "../object.ts";
import type { Conversion, ConversionResult } from "./conversion.ts";
import { ConversionDraft } from "./conversion-draft.ts";
import { ec2NodeClassToV1beta1 } from "./ec2-node-class-to-v1beta1.ts";
import { nodeClaimToV1beta1, nodePoolToV1beta1 } from "./node-pool-to-v1beta1.ts";

const convertersByKind: Readonly<Record<string, (draft: ConversionDraft) => void>> = {
  [`${groups.karpenter}/v1 NodePool`]: nodePoolToV1beta1,
  [`${groups.karpenter}/v1 NodeClaim`]: nodeClaimToV1beta1,
  [`${groups.aws}/v1 EC2NodeClass`]: ec2NodeClassToV1beta1,
};

/** Converts v1 to v1beta1 for clients that still read it; what it cannot express is lost with a warning. (01 §7.3) */
export function toV1beta1(objects: readonly unknown[]): Conversion {
  const works = objects.map((object, input) => ({ input, ...convertToV1beta1(object) }));
  return {
    objects: works.map(
      ({ input, draft, origin }): ConversionResult => ({ input, object: draft.object, origin, moves: draft.moves }),
    ),
    refused: [],
    warnings: works.flatMap(({ input, draft }) => draft.warnings.map((warning) => ({ ...warning, input }))),
    problems: [],
  };
}

function convertToV1beta1(source: unknown): {
  readonly draft: ConversionDraft;
  readonly origin: "unchanged" | "same-kind";
} {
  const { apiVersion, kind } = isRecord(source) ? source : {};
  const name = `${String(apiVersion)} ${String(kind)}`;
  const way = Object.hasOwn(convertersByKind, name) ? convertersByKind[name] : undefined;
  const object = structuredClone(source) as Record<string, unknown>;
  const draft = new ConversionDraft({ source, mode: "lenient", object });
  if (way === undefined) return { draft, origin: "unchanged" };
  object["apiVersion"] = String(apiVersion).replace(/v1$/, "v1beta1");
  way(draft);
  return { draft, origin: "same-kind" };
}
