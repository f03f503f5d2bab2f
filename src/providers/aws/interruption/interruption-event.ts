import type { InterruptionKind } from "./interruption-kinds.ts";
import { type InterruptionRuleName, interruptionRules } from "./interruption-rules.ts";

/** What a message of the queue says. (04 §4.2) */
export type InterruptionEvent =
  | {
      readonly kind: InterruptionKind;
      readonly instanceIds: readonly string[];
      /** Milliseconds since the epoch; undefined if the event does not say. */
      readonly at: number | undefined;
    }
  /** An event that asks for nothing. */
  | { readonly kind: "no_op"; readonly instanceIds: readonly []; readonly at: number | undefined }
  | { readonly kind: "unreadable"; readonly because: string };

type Fields = Readonly<Record<string, unknown>>;

/** The body of a message: EventBridge's JSON. The whole of version, source and detail-type decides what it is. */
export function interruptionEventOf(body: string | undefined): InterruptionEvent {
  if (body === undefined || body.trim() === "") return { kind: "no_op", instanceIds: [], at: undefined };
  let event: unknown;
  try {
    event = JSON.parse(body);
  } catch (error) {
    return { kind: "unreadable", because: error instanceof Error ? error.message : String(error) };
  }
  if (!isFields(event)) return { kind: "unreadable", because: "not a JSON object" };
  const at = timeOf(event["time"]);
  const rule = interruptionRules.find(
    ({ source, detailType }) =>
      event["version"] === "0" && event["source"] === source && event["detail-type"] === detailType,
  );
  const detail = isFields(event["detail"]) ? event["detail"] : {};
  const kind = rule && kinds[rule.name](detail);
  if (kind === undefined) return { kind: "no_op", instanceIds: [], at };
  return { kind, instanceIds: kind === "scheduled_change" ? affectedEntities(detail) : instanceIdOf(detail), at };
}

/** Undefined: the event is of no interest. */
const kinds: Readonly<Record<InterruptionRuleName, (detail: Fields) => InterruptionKind | undefined>> = {
  SpotInterruption: () => "spot_interrupted",
  Rebalance: () => "rebalance_recommendation",
  CapacityReservationInterruption: () => "capacity_reservation_interrupted",
  ScheduledChange: ({ service, eventTypeCategory }) =>
    service === "EC2" && eventTypeCategory === "scheduledChange" ? "scheduled_change" : undefined,
  InstanceStateChange: ({ state }) => stateKinds.get(String(state).toLowerCase()),
};

const stateKinds: ReadonlyMap<string, InterruptionKind> = new Map([
  ["stopping", "instance_stopped"],
  ["stopped", "instance_stopped"],
  ["shutting-down", "instance_terminated"],
  ["terminated", "instance_terminated"],
]);

function instanceIdOf(detail: Fields): readonly string[] {
  const id = detail["instance-id"];
  return typeof id === "string" && id !== "" ? [id] : [];
}

function affectedEntities({ affectedEntities: entities }: Fields): readonly string[] {
  if (!Array.isArray(entities)) return [];
  return entities.flatMap((entity: unknown) => {
    const value = isFields(entity) ? entity["entityValue"] : undefined;
    return typeof value === "string" && value !== "" ? [value] : [];
  });
}

function timeOf(time: unknown): number | undefined {
  const ms = typeof time === "string" ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
