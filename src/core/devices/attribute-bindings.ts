import { deviceKey } from "./device.ts";

/** Devices that will have the same value of an attribute, which is not known before the node runs. (02:D-6) */
export interface AttributeBinding {
  readonly attribute: string;
  readonly devices: readonly { readonly driver: string; readonly pool: string; readonly device: string }[];
}

/** Numbers for sets of devices that share the value of an attribute, by attribute and device key. */
export type AttributeBindings = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Bindings are transitive: two that share a device are one. A binding of a single device says nothing. */
export function attributeBindingsOf(bindings: readonly AttributeBinding[]): AttributeBindings {
  const byAttribute = new Map<string, Map<string, number>>();
  for (const [number, { attribute, devices }] of bindings.entries()) {
    if (devices.length < 2) continue;
    const groups = byAttribute.get(attribute) ?? new Map<string, number>();
    byAttribute.set(attribute, groups);
    const keys = devices.map(deviceKey);
    const joined = new Set(keys.map((key) => groups.get(key)).filter((group) => group !== undefined));
    for (const [key, group] of groups) if (joined.has(group)) groups.set(key, number);
    for (const key of keys) groups.set(key, number);
  }
  return byAttribute;
}
