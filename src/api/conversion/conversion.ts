import type { FieldPath, Problem } from "../problem.ts";

/** How to treat what an old manifest leaves open: assume with a warning, or fail. (01 §7.9) */
const conversionModes = ["lenient", "strict"] as const;
export type ConversionMode = (typeof conversionModes)[number];

export interface ConversionOptions {
  readonly mode: ConversionMode;
  /** Fills in missing subnet and security group selectors. */
  readonly clusterName?: string;
  /** Fills in a missing role or instance profile: the old global setting `aws.defaultInstanceProfile`. */
  readonly defaultInstanceProfile?: string;
  /** Leave out the requirements that v1alpha5 on AWS implied. (01 §7.6) */
  readonly ignoreDefaults?: boolean;
  /** Keep what v1 cannot express in annotations, so that converting back is exact: for serving both versions. (01 §7.3) */
  readonly roundTrip?: boolean;
}

/** The lossy or assumed steps of conversions. A closed set; messages are renderings of it. */
const conversionWarningCodes = [
  "policy-assumed",
  "consolidate-after-assumed",
  "consolidate-after-kept",
  "expire-after-assumed",
  "node-class-assumed",
  "node-class-moved",
  "node-class-generated",
  "operator-assumed",
  "selector-assumed",
  "wildcard-assumed",
  "instance-profile-assumed",
  "field-moved",
  "field-dropped",
  "name-changed",
  "kubelet-moved",
  "kubelet-left-behind",
  "hop-limit-changed",
  "al2-retired",
  "bootstrap-twice",
  "ubuntu-as-al2",
  "selectors-intersect",
  "name-too-long",
  "legacy-pod-key",
  "policy-lost",
] as const;

/** One lossy or assumed step: where, what was assumed or lost, what to do. */
export interface ConversionWarning {
  readonly code: (typeof conversionWarningCodes)[number];
  /** In the source document. */
  readonly path: FieldPath;
  readonly message: string;
  readonly advice: string;
}

/** A field of the result that has another path in its source. */
export interface FieldMove {
  readonly from: FieldPath;
  readonly to: FieldPath;
  /** Which input it came from, when not from the result's own. */
  readonly input?: number;
}

/** One object of the result. */
export interface ConversionResult {
  /** Index of the input it came from. */
  readonly input: number;
  readonly object: unknown;
  /** Whether it is the unchanged input, the converted input, or made from a part of it. */
  readonly origin: "unchanged" | "same-kind" | "new-kind" | "generated";
  readonly moves: readonly FieldMove[];
}

/** The result of converting a set of objects. An input with problems yields no object. */
export interface Conversion {
  readonly objects: readonly ConversionResult[];
  /** What inputs with problems would have become, to find further problems. */
  readonly refused: readonly ConversionResult[];
  readonly warnings: readonly (ConversionWarning & { readonly input: number })[];
  readonly problems: readonly (Problem & { readonly input: number })[];
}

/** The path in the source of a path in the result, by the longest move that covers it. */
export function sourcePath(
  path: FieldPath,
  moves: readonly FieldMove[],
): { readonly path: FieldPath; readonly input?: number } {
  let best: FieldMove | undefined;
  for (const move of moves) {
    if (move.to.length > (best?.to.length ?? -1) && pathStartsWith(path, move.to)) best = move;
  }
  if (best === undefined) return { path };
  const from = [...best.from, ...path.slice(best.to.length)];
  return best.input === undefined ? { path: from } : { path: from, input: best.input };
}

export function pathStartsWith(path: FieldPath, prefix: FieldPath): boolean {
  return prefix.length <= path.length && prefix.every((step, index) => path[index] === step);
}
