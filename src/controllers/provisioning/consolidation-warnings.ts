import type { Pod, PodSpec } from "../../api/kubernetes/pod.ts";
import type { ExpiringMap } from "../../util/expiring-map.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { joinedPodNames } from "./log-text.ts";

const warningIntervalMs = 24 * 60 * 60_000;
const maxNames = 10;

const warnings = [
  {
    of: "pod-antiaffinity",
    isDue: ({ affinity }: PodSpec) =>
      (affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).length > 0,
    text: "pod(s) have a preferred Anti-Affinity which can prevent consolidation",
  },
  {
    of: "pod-topology-spread",
    isDue: ({ topologySpreadConstraints = [] }: PodSpec) =>
      topologySpreadConstraints.some(({ whenUnsatisfiable }) => whenUnsatisfiable === "ScheduleAnyway"),
    text: "pod(s) have a preferred TopologySpreadConstraint which can prevent consolidation",
  },
] as const;

/** Warns once a day per pod about preferences that can prevent consolidation. (02:P-40) */
export class ConsolidationWarnings {
  readonly #warnedPods: ExpiringMap<true>;
  readonly #context: Pick<KarpenterContext, "settings" | "log">;
  readonly #found = warnings.map((warning) => ({ ...warning, pods: [] as Pod[] }));

  /** `warnedPods`: those of earlier rounds, by warning and uid. */
  constructor(warnedPods: ExpiringMap<true>, context: Pick<KarpenterContext, "settings" | "log">) {
    this.#warnedPods = warnedPods;
    this.#context = context;
  }

  check(pod: Pod): void {
    const warnedPods = this.#warnedPods;
    if (this.#context.settings.preferencePolicy === "Ignore") return;
    for (const { of, isDue, pods } of this.#found) {
      if (!isDue(pod.spec)) continue;
      const key = `${of}/${pod.metadata.uid}`;
      if (warnedPods.get(key) !== undefined) continue;
      warnedPods.set(key, true, warningIntervalMs);
      pods.push(pod);
    }
  }

  log(): void {
    for (const { text, pods } of this.#found) {
      if (pods.length > 0) this.#context.log.info(text, { pods: joinedPodNames(pods, maxNames) });
    }
  }
}
