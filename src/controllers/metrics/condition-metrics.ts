import type { Condition } from "../../api/conditions/condition.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ResourceType } from "../../kube/client.ts";
import type { Controller, ControllerContext } from "../../kube/controller.ts";
import type { ObjectChange, View } from "../../kube/view.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { type ConditionMetricFamilies, conditionMetricFamilies } from "./condition-metric-families.ts";
import { listeningController, secondsSince } from "./listening-controller.ts";
import type { MetricSeries } from "./metrics.ts";

/** A kind whose conditions are told of. */
export interface WatchedKind {
  readonly type: ResourceType;
  /** Labels of the object that its metrics carry too. */
  readonly labels: readonly string[];
  /** Whether the metrics of older versions are kept up. */
  readonly hasDeprecated: boolean;
}

type ConditionedObject = KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } };

/** Tells of conditions that change and objects that go: in metrics, and in Events. (03 §6.1, §6.2) */
export function conditionMetricsController({ metrics }: ControllerDependencies, kind: WatchedKind): Controller {
  const { type, labels, hasDeprecated } = kind;
  return listeningController({
    name: `operatorpkg.${type.kind.toLowerCase()}.status`,
    kinds: [type],
    listen: (context) => {
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
        objects.subscribe((change) => reportChange(change, { metricSets, context })),
        ...metricSets.flatMap((metricSet) => collectGauges(objects, { metricSet, context })),
      ];
    },
  });
}

/** A set of metrics, and the labels it adds. */
interface ConditionMetricSet {
  readonly families: ConditionMetricFamilies;
  readonly extraLabels: (object: ConditionedObject) => Readonly<Record<string, string>>;
}

interface ConditionReporting {
  readonly metricSets: readonly ConditionMetricSet[];
  readonly context: ControllerContext;
}

function reportChange({ object, old }: ObjectChange<ConditionedObject>, reporting: ConditionReporting): void {
  if (object !== undefined)
    for (const condition of conditionsOf(object)) reportTransition(object, { condition, old }, reporting);
  if (object === undefined && old.metadata.deletionTimestamp !== undefined) reportTermination(old, reporting);
  if (old === undefined) return;
  const left = object?.metadata.finalizers ?? [];
  for (const finalizer of (old.metadata.finalizers ?? []).filter((one) => !left.includes(one))) {
    reporting.context.recordEvent(object ?? old, {
      type: "Normal",
      reason: "Finalized",
      message: `Finalized ${finalizer}`,
    });
  }
}

interface ConditionChange {
  readonly condition: Condition;
  readonly old: ConditionedObject | undefined;
}

/** New conditions count too, but nobody can say how long they were something else. */
function reportTransition(
  object: ConditionedObject,
  { condition, old }: ConditionChange,
  { metricSets, context }: ConditionReporting,
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
    context.recordEvent(object, { type: "Normal", reason: type, message: transitionText(before, condition) });
}

function transitionText(before: Condition, { type, status, reason = "", message = "" }: Condition): string {
  const why = [reason, message].filter((text) => text !== "" && text !== type).join(": ");
  return `${type} went from ${before.status} to ${status}${why === "" ? "" : `, ${why}`}`;
}

function reportTermination(object: ConditionedObject, { metricSets, context }: ConditionReporting): void {
  const seconds = secondsSince(object.metadata.deletionTimestamp, context.clock.now());
  for (const { families, extraLabels } of metricSets) families.terminations.record(extraLabels(object), seconds);
}

interface GaugeCollection {
  readonly metricSet: ConditionMetricSet;
  readonly context: ControllerContext;
}

/** What is so now: worked out when it is read. */
function collectGauges(
  objects: View<ConditionedObject>,
  { metricSet, context }: GaugeCollection,
): readonly (() => void)[] {
  const { families, extraLabels } = metricSet;
  const now = (): number => context.clock.now();
  return [
    families.current.collect(() => conditionSeries(objects, { extraLabels, value: () => 1 })),
    families.currentSeconds.collect(() =>
      conditionSeries(objects, {
        extraLabels,
        value: ({ lastTransitionTime }) => secondsSince(lastTransitionTime, now()),
      }),
    ),
    families.terminating.collect(() => terminationSeries(objects, { extraLabels, now: now() })),
  ];
}

interface ConditionSeriesOptions extends Pick<ConditionMetricSet, "extraLabels"> {
  readonly value: (condition: Condition) => number;
}

function* conditionSeries(
  objects: View<ConditionedObject>,
  { extraLabels, value }: ConditionSeriesOptions,
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
  { extraLabels, now }: Pick<ConditionMetricSet, "extraLabels"> & { readonly now: number },
): Generator<MetricSeries> {
  for (const object of objects.all()) {
    const { deletionTimestamp } = object.metadata;
    if (deletionTimestamp === undefined) continue;
    yield { labels: { ...nameOf(object), ...extraLabels(object) }, value: secondsSince(deletionTimestamp, now) };
  }
}

function nameOf({ metadata: { name = "", namespace = "" } }: ConditionedObject): {
  readonly name: string;
  readonly namespace: string;
} {
  return { namespace, name };
}

function conditionsOf({ status }: ConditionedObject): readonly Condition[] {
  return status?.conditions ?? [];
}

/** `karpenter.sh/nodepool` becomes `karpenter_sh_nodepool`. */
function metricLabel(key: string): string {
  return key.replace(/[/.-]/g, "_");
}
