import { kwokLabels, labels } from "../../src/api/labels.ts";

/** Short names for the labels tests speak of most. */
const shortKeys: Readonly<Record<string, string>> = {
  zone: labels.zone,
  host: labels.hostname,
  "capacity-type": labels.capacityType,
  type: labels.instanceType,
  arch: labels.arch,
  pool: labels.nodePool,
  reservation: kwokLabels.reservationId,
};

export function labelKey(name: string): string {
  return Object.hasOwn(shortKeys, name) ? (shortKeys[name] ?? name) : name;
}

/** A requirement in one line: key, operator, values. */
export type ShortRequirement = readonly [key: string, operator: string, ...values: readonly string[]];

export function expression([key, operator, ...values]: ShortRequirement) {
  return { key: labelKey(key), operator, ...(values.length > 0 && { values }) };
}

export function shortLabels(named: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(named).map(([key, value]) => [labelKey(key), value]));
}

/** `key=value:Effect` or `key:Effect`. */
export function taint(written: string) {
  const [, key = "", value, effect = ""] = /^([^=:]+)(?:=([^:]*))?:(.+)$/.exec(written) ?? [];
  return { key, ...(value !== undefined && { value }), effect };
}
