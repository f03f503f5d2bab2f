import type { LabelSelector, Pod } from "../../api/kubernetes/pod.ts";
import type { TopologyCause } from "../scheduling/refusal.ts";
import type { TopologyReason } from "./explanation.ts";

type TopologyRefusal = Pick<TopologyCause, "kind" | "key" | "counts">;

/** The cause with the fields of the pod that decide. */
export function topologyReason({ kind, key, counts }: TopologyRefusal, pod: Pod): TopologyReason {
  return { code: "topology", kind, key, counts, ...decidingFields({ kind, key, counts }, pod) };
}

function decidingFields({ kind, key, counts }: TopologyRefusal, { spec }: Pod): Partial<TopologyReason> {
  if (kind === "spread") {
    const constraint = spec.topologySpreadConstraints?.find(
      ({ topologyKey, whenUnsatisfiable }) => topologyKey === key && whenUnsatisfiable !== "ScheduleAnyway",
    );
    if (constraint === undefined) return {};
    const { maxSkew, minDomains = 1 } = constraint;
    const isTooFew = minDomains > Object.keys(counts).length;
    return { maxSkew, ...(isTooFew && { minDomains }), ...selectorField(constraint.labelSelector) };
  }
  const affinity = kind === "affinity" ? spec.affinity?.podAffinity : spec.affinity?.podAntiAffinity;
  const term = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.find(({ topologyKey }) => topologyKey === key);
  if (term === undefined) return kind === "anti-affinity" ? { isOfOthers: true } : {};
  return selectorField(term.labelSelector);
}

function selectorField(selector: LabelSelector | undefined): Pick<TopologyReason, "selector"> {
  const text = selector === undefined ? "" : selectorText(selector);
  return text === "" ? {} : { selector: text };
}

/** As kubectl writes a selector. */
function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const pairs = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  const others = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === "Exists") return key;
    if (operator === "DoesNotExist") return `!${key}`;
    return `${key} ${operator === "In" ? "in" : "not in"} (${values.join(", ")})`;
  });
  return [...pairs, ...others].join(",");
}
