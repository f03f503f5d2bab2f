import type { ResourceSliceTemplate } from "../../api/devices/device-objects.ts";
import { type AttributeBinding, type AttributeBindings, attributeBindingsOf } from "./attribute-bindings.ts";
import { counterTotals, type Device, deviceOf, devicePoolKey } from "./device.ts";

/** The devices nodes of an instance type will publish. (02:D-3) */
export interface DynamicResources {
  readonly resourceSlices: readonly ResourceSliceTemplate[];
  readonly attributeBindings?: readonly AttributeBinding[];
}

/** The devices of one node of an instance type, before it publishes them. */
export interface TemplateDevices {
  readonly devices: readonly Device[];
  readonly counterTotals: ReadonlyMap<string, bigint>;
  readonly bindings: AttributeBindings;
}

export const noTemplateDevices: TemplateDevices = { devices: [], counterTotals: new Map(), bindings: new Map() };

export function templateDevicesOf({ resourceSlices, attributeBindings = [] }: DynamicResources): TemplateDevices {
  return {
    devices: resourceSlices.flatMap(({ driver, pool, devices = [] }) =>
      devices.map((device) => deviceOf(device, { driver, pool: pool.name, isTemplate: true })),
    ),
    counterTotals: new Map(
      resourceSlices.flatMap(({ driver, pool, sharedCounters = [] }) => [
        ...counterTotals(sharedCounters, devicePoolKey({ driver, pool: pool.name })),
      ]),
    ),
    bindings: attributeBindingsOf(attributeBindings),
  };
}
