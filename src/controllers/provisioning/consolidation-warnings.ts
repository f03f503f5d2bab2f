import type { Pod, PodSpec } from "../../api/kubernetes/pod.ts";
import type { Desk } from "./parts.ts";
import { podNames } from "./words.ts";

const oncePerMs = 24 * 60 * 60_000;
const mostNames = 10;

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

/** Wishes that hold nodes back later are pointed out, to each pod's reader once a day. (02:P-40) */
export class ConsolidationWarnings {
  readonly #desk: Desk;
  readonly #found = warnings.map((warning) => ({ ...warning, pods: [] as Pod[] }));

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  look(pod: Pod): void {
    const { parts, warned } = this.#desk;
    if (parts.settings.preferencePolicy === "Ignore") return;
    for (const { of, isDue, pods } of this.#found) {
      if (!isDue(pod.spec)) continue;
      const key = `${of}/${pod.metadata.uid}`;
      if (warned.get(key) !== undefined) continue;
      warned.set(key, true, oncePerMs);
      pods.push(pod);
    }
  }

  say(): void {
    for (const { text, pods } of this.#found) {
      if (pods.length > 0) this.#desk.parts.log.info(text, { pods: podNames(pods, mostNames) });
    }
  }
}
