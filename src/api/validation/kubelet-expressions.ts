import { Quantity } from "../../util/quantity.ts";
import { type ReservedMap, reservedMaps, stringMapAt } from "./kubelet.ts";
import type { KubeletConfiguration } from "./kubelet-decode.ts";

/** The field that holds an expression. */
type ExpressionLocation = { readonly field: "maxPods" } | { readonly field: ReservedMap; readonly resource: string };

export type KubeletExpression = ExpressionLocation & { readonly text: string };

/** A reserved value that is not a quantity is an expression. */
function isKubeletExpression(value: string): boolean {
  return Quantity.tryParse(value) === undefined;
}

/** All expressions of a kubelet block, maxPods first because others may refer to its result. */
export function kubeletExpressionsOf(block: KubeletConfiguration | undefined): readonly KubeletExpression[] {
  if (block === undefined) return [];
  const { maxPods } = block;
  const reserved = reservedMaps.flatMap((field) =>
    Object.entries(stringMapAt(block, field))
      .filter(([, text]) => isKubeletExpression(text))
      .map(([resource, text]) => ({ field, resource, text })),
  );
  return [...(typeof maxPods === "string" ? [{ field: "maxPods" as const, text: maxPods }] : []), ...reserved];
}
