import type { KubeObject } from "../../../api/object.ts";
import type { ResourceType } from "../../../kube/client.ts";
import type { LoopWorld } from "../../../kube/loop.ts";
import { rfc3339 } from "../../api/times.ts";
import { sameJson } from "../../kinds/draft.ts";
import type { WorkloadCondition } from "./types.ts";

/** Writes a status that changed, over the very version it was made from; a conflict is for the next look. */
export async function writeStatus<T extends KubeObject>(
  world: LoopWorld,
  type: ResourceType,
  { object, status }: { readonly object: T; readonly status: T["status"] },
): Promise<T> {
  const clean = withoutUndefined(status);
  if (sameJson(clean, object.status ?? {})) return object;
  return world.client.update<T>(type, { ...object, status: clean }, { subresource: "status" });
}

/** Go leaves zeros out of most counts. */
export function unlessZero(count: number): number | undefined {
  return count === 0 ? undefined : count;
}

function withoutUndefined(status: unknown): unknown {
  return Object.fromEntries(Object.entries(status ?? {}).filter(([, value]) => value !== undefined));
}

/** The conditions with one set; the same list where its status and reason are as they were. */
export function withCondition(
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

export function without(conditions: readonly WorkloadCondition[] = [], type: string): readonly WorkloadCondition[] {
  return conditions.some((one) => one.type === type) ? conditions.filter((one) => one.type !== type) : conditions;
}

export function find(conditions: readonly WorkloadCondition[] | undefined, type: string) {
  return conditions?.find((one) => one.type === type);
}

export function isTrue(conditions: readonly WorkloadCondition[] | undefined, type: string): boolean {
  return find(conditions, type)?.status === "True";
}
