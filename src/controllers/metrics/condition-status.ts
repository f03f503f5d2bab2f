import type { Condition } from "../../api/conditions/condition.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ResourceType } from "../../kube/client.ts";
import type { Loop, LoopWorld } from "../../kube/loop.ts";
import type { Change, View } from "../../kube/view.ts";
import type { Parts } from "../parts.ts";
import { type ConditionFamilies, conditionFamilies } from "./condition-families.ts";
import { listeningLoop, secondsSince } from "./listening.ts";
import type { Series } from "./metrics.ts";

/** A kind whose conditions are told of. */
export interface WatchedKind {
  readonly type: ResourceType;
  /** Labels of the object that its metrics carry too. */
  readonly labels: readonly string[];
  /** Whether the metrics of older versions are kept up. */
  readonly hasDeprecated: boolean;
}

type Seen = KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } };

/** Tells of conditions that change and objects that go: in metrics, and in Events. (03 §6.1, §6.2) */
export function conditionStatus({ metrics }: Parts, kind: WatchedKind): Loop {
  const { type, labels, hasDeprecated } = kind;
  return listeningLoop({
    name: `operatorpkg.${type.kind.toLowerCase()}.status`,
    kinds: [type],
    listen: (world) => {
      const objects = world.view<Seen>(type);
      const { group, kind: name } = type;
      const own: Telling = {
        families: conditionFamilies(metrics, { kind: name, extra: labels.map(metricLabel) }),
        extraOf: ({ metadata }) =>
          Object.fromEntries(labels.map((key) => [metricLabel(key), metadata.labels?.[key] ?? ""])),
      };
      const old: Telling = {
        families: conditionFamilies(metrics, { extra: ["group", "kind"] }),
        extraOf: () => ({ group, kind: name }),
      };
      const tellings = hasDeprecated ? [own, old] : [own];
      return [
        objects.subscribe((change) => noticed(change, { tellings, world })),
        ...tellings.flatMap((telling) => collected(objects, { telling, world })),
      ];
    },
  });
}

/** A set of metrics, and the labels it adds. */
interface Telling {
  readonly families: ConditionFamilies;
  readonly extraOf: (object: Seen) => Readonly<Record<string, string>>;
}

interface Noticing {
  readonly tellings: readonly Telling[];
  readonly world: LoopWorld;
}

function noticed({ object, old }: Change<Seen>, noticing: Noticing): void {
  if (object !== undefined)
    for (const condition of conditionsOf(object)) transition(object, { condition, old }, noticing);
  if (object === undefined && old.metadata.deletionTimestamp !== undefined) ended(old, noticing);
  if (old === undefined) return;
  const left = object?.metadata.finalizers ?? [];
  for (const finalizer of (old.metadata.finalizers ?? []).filter((one) => !left.includes(one))) {
    noticing.world.tell(object ?? old, { type: "Normal", reason: "Finalized", message: `Finalized ${finalizer}` });
  }
}

interface Moved {
  readonly condition: Condition;
  readonly old: Seen | undefined;
}

/** New conditions count too, but nobody can say how long they were something else. */
function transition(object: Seen, { condition, old }: Moved, { tellings, world }: Noticing): void {
  const before = old && conditionsOf(old).find(({ type }) => type === condition.type);
  if (before?.status === condition.status) return;
  const { type, status, reason = "" } = condition;
  const tookSeconds = before && secondsSince(before.lastTransitionTime, Date.parse(condition.lastTransitionTime));
  for (const { families, extraOf } of tellings) {
    families.transitions.record({ type, status, reason, ...extraOf(object) }, 1);
    if (before === undefined || tookSeconds === undefined) continue;
    families.durations.record({ type, status: before.status, ...extraOf(object) }, tookSeconds);
  }
  if (before !== undefined)
    world.tell(object, { type: "Normal", reason: type, message: transitionText(before, condition) });
}

function transitionText(before: Condition, { type, status, reason = "", message = "" }: Condition): string {
  const why = [reason, message].filter((text) => text !== "" && text !== type).join(": ");
  return `${type} went from ${before.status} to ${status}${why === "" ? "" : `, ${why}`}`;
}

function ended(object: Seen, { tellings, world }: Noticing): void {
  const seconds = secondsSince(object.metadata.deletionTimestamp, world.clock.now());
  for (const { families, extraOf } of tellings) families.terminations.record(extraOf(object), seconds);
}

interface Collecting {
  readonly telling: Telling;
  readonly world: LoopWorld;
}

/** What is so now: worked out when it is read. */
function collected(objects: View<Seen>, { telling, world }: Collecting): readonly (() => void)[] {
  const { families, extraOf } = telling;
  const now = (): number => world.clock.now();
  return [
    families.current.collect(() => conditionSeries(objects, { extraOf, value: () => 1 })),
    families.currentSeconds.collect(() =>
      conditionSeries(objects, { extraOf, value: ({ lastTransitionTime }) => secondsSince(lastTransitionTime, now()) }),
    ),
    families.terminating.collect(() => terminationSeries(objects, { extraOf, now: now() })),
  ];
}

interface Showing extends Pick<Telling, "extraOf"> {
  readonly value: (condition: Condition) => number;
}

function* conditionSeries(objects: View<Seen>, { extraOf, value }: Showing): Generator<Series> {
  for (const object of objects.all()) {
    const labels = { ...nameOf(object), ...extraOf(object) };
    for (const condition of conditionsOf(object)) {
      const { type, status, reason = "" } = condition;
      yield { labels: { ...labels, type, status, reason }, value: value(condition) };
    }
  }
}

function* terminationSeries(
  objects: View<Seen>,
  { extraOf, now }: Pick<Telling, "extraOf"> & { readonly now: number },
): Generator<Series> {
  for (const object of objects.all()) {
    const { deletionTimestamp } = object.metadata;
    if (deletionTimestamp === undefined) continue;
    yield { labels: { ...nameOf(object), ...extraOf(object) }, value: secondsSince(deletionTimestamp, now) };
  }
}

function nameOf({ metadata: { name = "", namespace = "" } }: Seen): {
  readonly name: string;
  readonly namespace: string;
} {
  return { namespace, name };
}

function conditionsOf({ status }: Seen): readonly Condition[] {
  return status?.conditions ?? [];
}

/** `karpenter.sh/nodepool` becomes `karpenter_sh_nodepool`. */
function metricLabel(key: string): string {
  return key.replace(/[/.-]/g, "_");
}
