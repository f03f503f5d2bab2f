import { errorText } from "../../util/error-text.ts";
import type { LoggedLine, LogValues } from "../../util/logger.ts";

/** Kinds a line may name; the first that its message mentions is put behind the message. */
const objectKinds = ["NodeClaim", "NodePool", "Pod", "Node"] as const;
/** Keys only programs need. */
const hiddenKeys: readonly string[] = [
  "controller",
  "provider-id",
  "allocatable",
  "commit",
  "reconcileID",
  "scheduling-id",
];

/** A log line for a person: message, object, values. (03 §6.3) */
export function logLineText({ level, message, values }: LoggedLine): string {
  const subject = objectKinds.find((kind) => kind in values && message.includes(kind.toLowerCase()));
  const excludedKeys: readonly string[] = [...hiddenKeys, ...(subject ? [subject] : []), "error"];
  const rest = Object.entries(values).filter(([key, value]) => !excludedKeys.includes(key) && value !== undefined);
  const head = [message, ...(subject ? [valueText(values[subject])] : [])].join(" ");
  const text = [head, ...rest.map(([key, value]) => factText(key, value))].join("  ");
  const failed = values["error"] === undefined ? text : `${text}: ${errorText(values["error"])}`;
  return `${level === "error" ? "error: " : ""}${failed}`.replace(/\s*\n\s*/g, " ");
}

/** The name of the object of this kind in a log line. */
export function objectNameIn(kind: (typeof objectKinds)[number], values: LogValues): string {
  return valueText(values[kind] ?? "");
}

/** Object names and lists are shown without their key. */
function factText(key: string, value: unknown): string {
  if (key === "Pods" || key === "instance-types") return valueText(value);
  if ((objectKinds as readonly string[]).includes(key)) return `${key.toLowerCase()} ${valueText(value)}`;
  return `${key}=${valueText(value)}`;
}

function valueText(value: unknown): string {
  if (value instanceof Error) return errorText(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return value.map(valueText).join(",");
  const { name, namespace, ...others } = value as LogValues;
  if (typeof name === "string" && Object.keys(others).length === 0) {
    return typeof namespace === "string" ? `${namespace}/${name}` : name;
  }
  return Object.entries(value)
    .map(([key, inner]) => `${key} ${valueText(inner)}`)
    .join(", ");
}
