import { isSameJson } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { ResourceType } from "../../../kube/client.ts";
import type { ControllerContext } from "../../../kube/controller.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import { latestOf } from "./ownership.ts";
import type { WorkloadCondition } from "./types.ts";

/** Writes a changed status over the version it was computed from; a conflict is retried by the next reconcile. */
export async function updateStatusIfChanged<T extends KubeObject>(
  context: ControllerContext,
  type: ResourceType,
  { object, status }: { readonly object: T; readonly status: T["status"] },
): Promise<T> {
  const clean = withoutUndefined(status);
  if (isSameJson(clean, object.status ?? {})) return object;
  return context.client.update<T>(type, { ...object, status: clean }, { subresource: "status" });
}

/** Writes a changed status over the latest version: this reconcile may itself have written the object. */
export async function updateLatestStatus<T extends KubeObject>(
  context: ControllerContext,
  type: ResourceType,
  { object, status }: { readonly object: T; readonly status: T["status"] },
): Promise<void> {
  const latest = latestOf(context, type, object);
  if (latest !== undefined) await updateStatusIfChanged(context, type, { object: latest, status });
}

/** Go omits zero counts from JSON. */
export function omitZero(count: number): number | undefined {
  return count === 0 ? undefined : count;
}

function withoutUndefined(status: unknown): unknown {
  return Object.fromEntries(Object.entries(status ?? {}).filter(([, value]) => value !== undefined));
}

/** The conditions with one set; the same list if its status and reason are unchanged. */
export function withWorkloadCondition(
  conditions: readonly WorkloadCondition[] = [],
  condition: WorkloadCondition,
  { now, hasUpdateTime = false }: { readonly now: number; readonly hasUpdateTime?: boolean },
): readonly WorkloadCondition[] {
  const old = conditions.find(({ type }) => type === condition.type);
  if (old?.status === condition.status && old.reason === condition.reason) return conditions;
  const changed = old?.status === condition.status ? old.lastTransitionTime : undefined;
  const times = {
    ...(hasUpdateTime && { lastUpdateTime: rfc3339(now) }),
    lastTransitionTime: changed ?? rfc3339(now),
  };
  return [...conditions.filter(({ type }) => type !== condition.type), { ...times, ...condition }];
}

export function withoutWorkloadCondition(
  conditions: readonly WorkloadCondition[] = [],
  type: string,
): readonly WorkloadCondition[] {
  return conditions.some((one) => one.type === type) ? conditions.filter((one) => one.type !== type) : conditions;
}

export function findWorkloadCondition(conditions: readonly WorkloadCondition[] | undefined, type: string) {
  return conditions?.find((one) => one.type === type);
}

export function isWorkloadConditionTrue(conditions: readonly WorkloadCondition[] | undefined, type: string): boolean {
  return findWorkloadCondition(conditions, type)?.status === "True";
}
