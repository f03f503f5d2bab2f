import { groups } from "../labels.ts";
import { isRecord } from "../object.ts";
import { classToBeta } from "./class-to-v1beta1.ts";
import { Draft } from "./draft.ts";
import type { Conversion, Converted } from "./outcome.ts";
import { claimToBeta, poolToBeta } from "./pool-to-v1beta1.ts";

const ways: Readonly<Record<string, (draft: Draft) => void>> = {
  [`${groups.karpenter}/v1 NodePool`]: poolToBeta,
  [`${groups.karpenter}/v1 NodeClaim`]: claimToBeta,
  [`${groups.aws}/v1 EC2NodeClass`]: classToBeta,
};

/** The way back, for clients that still read v1beta1: what that version cannot say is lost, with a warning. (01 §7.3) */
export function toV1beta1(objects: readonly unknown[]): Conversion {
  const works = objects.map((object, input) => ({ input, ...wayBack(object) }));
  return {
    objects: works.map(
      ({ input, draft, origin }): Converted => ({ input, object: draft.object, origin, moves: draft.moves }),
    ),
    refused: [],
    warnings: works.flatMap(({ input, draft }) => draft.warnings.map((warning) => ({ ...warning, input }))),
    problems: [],
  };
}

function wayBack(source: unknown): { readonly draft: Draft; readonly origin: "unchanged" | "same-kind" } {
  const { apiVersion, kind } = isRecord(source) ? source : {};
  const name = `${String(apiVersion)} ${String(kind)}`;
  const way = Object.hasOwn(ways, name) ? ways[name] : undefined;
  const object = structuredClone(source) as Record<string, unknown>;
  const draft = new Draft({ source, mode: "lenient", object });
  if (way === undefined) return { draft, origin: "unchanged" };
  object["apiVersion"] = String(apiVersion).replace(/v1$/, "v1beta1");
  way(draft);
  return { draft, origin: "same-kind" };
}
