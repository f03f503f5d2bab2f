import type { Condition } from "../../api/conditions/condition.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ResourceType } from "../../kube/client.ts";
import type { Controller } from "../../kube/controller.ts";
import type { ObjectChange, View } from "../../kube/view.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { type ConditionMetricFamilies, conditionMetricFamilies } from "./condition-metric-families.ts";
import { listeningController, secondsSince } from "./listening-controller.ts";
import type { MetricSeries } from "./metrics.ts";

/** A kind whose conditions are reported. */
export interface WatchedKind {
  readonly type: ResourceType;
  /** Labels of the object that are labels of its metrics too. */
  readonly labels: readonly string[];
  /** Whether the deprecated metrics of older versions are kept. */
  readonly hasDeprecated: boolean;
}

type ConditionedObject = KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } };

/** Reports condition changes and finished deletions, in metrics and as Events. (03 §6.1, §6.2) */
export function conditionMetricsController(dependencies: ControllerDependencies, kind: WatchedKind): Controller {
  const { type, labels, hasDeprecated } = kind;
  return listeningController(dependencies, {
    name: `operatorpkg.${type.kind.toLowerCase()}.status`,
    kinds: [type],
    listen: (context) => {
      const { metrics } = context;
      const objects = context.view<ConditionedObject>(type);
      const { group, kind: name } = type;
      const own: ConditionMetricSet = {
        families: conditionMetricFamilies(metrics, { kind: name, extra: labels.map(metricLabel) }),
        extraLabels: ({ metadata }) =>
          Object.fromEntries(labels.map((key) => [metricLabel(key), metadata.labels?.[key] ?? ""])),
      };
      const old: ConditionMetricSet = {
        families: conditionMetricFamilies(metrics, { extra: ["group", "kind"] }),
        extraLabels: () => ({ group, kind: name }),
      };
      const metricSets = hasDeprecated ? [own, old] : [own];
      return [
        objects.subscribe((change) => reportChange(change, metricSets, context)),
        ...metricSets.flatMap((metricSet) => collectGauges(objects, metricSet, context)),
      ];
    },
  });
}

/** A set of metrics, and the labels it adds. */
interface ConditionMetricSet {
  readonly families: ConditionMetricFamilies;
  readonly extraLabels: (object: ConditionedObject) => Readonly<Record<string, string>>;
}

function reportChange(
  { object, old }: ObjectChange<ConditionedObject>,
  metricSets: readonly ConditionMetricSet[],
  context: KarpenterContext,
): void {
  if (object !== undefined)
    for (const condition of conditionsOf(object)) reportTransition(object, { condition, old, metricSets }, context);
  if (object === undefined && old.metadata.deletionTimestamp !== undefined) reportTermination(old, metricSets, context);
  if (old === undefined) return;
  const left = object?.metadata.finalizers ?? [];
  for (const finalizer of (old.metadata.finalizers ?? []).filter((one) => !left.includes(one))) {
    const message = `Finalized ${finalizer}`;
    context.recordEvent(object ?? old, { type: "Normal", reason: "Finalized", message });
  }
}

interface ConditionChange {
  readonly condition: Condition;
  readonly old: ConditionedObject | undefined;
  readonly metricSets: readonly ConditionMetricSet[];
}

/** A new condition counts as a transition, but has no duration. */
function reportTransition(
  object: ConditionedObject,
  { condition, old, metricSets }: ConditionChange,
  { recordEvent }: KarpenterContext,
): void {
  const before = old && conditionsOf(old).find(({ type }) => type === condition.type);
  if (before?.status === condition.status) return;
  const { type, status, reason = "" } = condition;
  const tookSeconds = before && secondsSince(before.lastTransitionTime, Date.parse(condition.lastTransitionTime));
  for (const { families, extraLabels } of metricSets) {
    families.transitions.record({ type, status, reason, ...extraLabels(object) }, 1);
    if (before === undefined || tookSeconds === undefined) continue;
    families.durations.record({ type, status: before.status, ...extraLabels(object) }, tookSeconds);
  }
  if (before !== undefined)
    recordEvent(object, { type: "Normal", reason: type, message: transitionText(before, condition) });
}

function transitionText(before: Condition, { type, status, reason = "", message = "" }: Condition): string {
  const why = [reason, message].filter((text) => text !== "" && text !== type).join(": ");
  return `${type} went from ${before.status} to ${status}${why === "" ? "" : `, ${why}`}`;
}

function reportTermination(
  object: ConditionedObject,
  metricSets: readonly ConditionMetricSet[],
  { clock }: KarpenterContext,
): void {
  const seconds = secondsSince(object.metadata.deletionTimestamp, clock.now());
  for (const { families, extraLabels } of metricSets) families.terminations.record(extraLabels(object), seconds);
}

/** Gauges, computed when they are read. */
function collectGauges(
  objects: View<ConditionedObject>,
  metricSet: ConditionMetricSet,
  { clock }: KarpenterContext,
): readonly (() => void)[] {
  const { families } = metricSet;
  const age = ({ lastTransitionTime }: Condition): number => secondsSince(lastTransitionTime, clock.now());
  return [
    families.current.collect(() => conditionSeries(objects, metricSet, () => 1)),
    families.currentSeconds.collect(() => conditionSeries(objects, metricSet, age)),
    families.terminating.collect(() => terminationSeries(objects, metricSet, clock.now())),
  ];
}

function* conditionSeries(
  objects: View<ConditionedObject>,
  { extraLabels }: Pick<ConditionMetricSet, "extraLabels">,
  value: (condition: Condition) => number,
): Generator<MetricSeries> {
  for (const object of objects.all()) {
    const labels = { ...nameOf(object), ...extraLabels(object) };
    for (const condition of conditionsOf(object)) {
      const { type, status, reason = "" } = condition;
      yield { labels: { ...labels, type, status, reason }, value: value(condition) };
    }
  }
}

function* terminationSeries(
  objects: View<ConditionedObject>,
  { extraLabels }: Pick<ConditionMetricSet, "extraLabels">,
  now: number,
): Generator<MetricSeries> {
  for (const object of objects.all()) {
    const { deletionTimestamp } = object.metadata;
    if (deletionTimestamp === undefined) continue;
    yield { labels: { ...nameOf(object), ...extraLabels(object) }, value: secondsSince(deletionTimestamp, now) };
  }
}

function nameOf({ metadata: { name = "", namespace = "" } }: ConditionedObject) {
  return { namespace, name };
}

function conditionsOf({ status }: ConditionedObject): readonly Condition[] {
  return status?.conditions ?? [];
}

/** `karpenter.sh/nodepool` becomes `karpenter_sh_nodepool`. */
export function metricLabel(key: string): string {
  return key.replace(/[/.-]/g, "_");
}
