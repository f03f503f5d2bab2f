import { parseDurationMs } from "../../util/duration.ts";
import type { Problem } from "../problem.ts";
import { textMap } from "./kubelet.ts";
import { type KubeletBlock, kubeletPath, shapeProblems } from "./kubelet-decode.ts";
import { managedKubeletFields } from "./kubelet-fields.ts";

type Texts = Readonly<Record<string, string>>;

/** The fields of `spec.kubelet` that decide what fits on a node or that every family is given. (01 §1.6.4) */
export interface ManagedKubelet {
  readonly clusterDNS?: readonly string[];
  /** A text is an expression, to be evaluated for each instance type. */
  readonly maxPods?: number | string;
  readonly podsPerCore?: number;
  readonly systemReserved?: Texts;
  readonly kubeReserved?: Texts;
  readonly evictionHard?: Texts;
  readonly evictionSoft?: Texts;
  readonly evictionSoftGracePeriod?: Texts;
  readonly evictionMaxPodGracePeriod?: number;
  readonly imageGCHighThresholdPercent?: number;
  readonly imageGCLowThresholdPercent?: number;
  readonly cpuCFSQuota?: boolean;
}

export type ManagedReading =
  | { readonly kind: "ok"; readonly kubelet: ManagedKubelet }
  | { readonly kind: "error"; readonly problem: Problem };

/**
 * Takes the managed fields out of the block, as a copy. All or nothing: with one field unreadable nobody should plan with
 * the others, and validation says which it was.
 */
export function managedKubelet(block: KubeletBlock | undefined): ManagedReading {
  const picked: Record<string, unknown> = {};
  for (const field of managedKubeletFields) {
    const value = block?.[field];
    if (value !== undefined && value !== null) picked[field] = value;
  }
  const [problem] = [...shapeProblems(picked), ...gracePeriodProblems(picked)];
  if (problem !== undefined) return { kind: "error", problem };
  return { kind: "ok", kubelet: structuredClone(picked) as ManagedKubelet };
}

function gracePeriodProblems(block: KubeletBlock): readonly Problem[] {
  return Object.entries(textMap(block, "evictionSoftGracePeriod"))
    .filter(([, text]) => parseDurationMs(text) === undefined)
    .map(([signal, text]) => ({
      code: "type",
      path: [...kubeletPath, "evictionSoftGracePeriod", signal],
      message: `${JSON.stringify(text)} is not a duration like 1m30s`,
    }));
}

/** `maxPods` as a count; nothing while it is unset, an expression, or part of a block that cannot be read. */
export function literalMaxPods(block: KubeletBlock | undefined): number | undefined {
  const reading = managedKubelet(block);
  const maxPods = reading.kind === "ok" ? reading.kubelet.maxPods : undefined;
  return typeof maxPods === "number" ? maxPods : undefined;
}
