import type { ResourceClaim, ResourceSlice, SliceDevice } from "../../src/api/devices/device-objects.ts";
import { labelPolicy } from "../../src/api/label-policy.ts";
import type { AttributeBinding } from "../../src/core/devices/attribute-bindings.ts";
import {
  type DeviceAllocation,
  DeviceAllocator,
  type DeviceHost,
  type DeviceObjects,
  type OpenSearchBudget,
} from "../../src/core/devices/device-allocator.ts";
import type { DeviceRefusal } from "../../src/core/devices/device-refusal.ts";
import { noTemplateDevices, templateDevicesOf } from "../../src/core/devices/template-devices.ts";
import { Requirements } from "../../src/core/requirements.ts";
import { byKey, deviceClass, gpuDriver } from "../builders/devices.ts";

export const kwokPolicy = labelPolicy("kwok");
export const zoneLabel = "topology.kubernetes.io/zone";

interface WorldDraft {
  readonly slices?: readonly ResourceSlice[];
  readonly claims?: readonly ResourceClaim[];
  readonly classes?: readonly ReturnType<typeof deviceClass>[];
  readonly moving?: readonly string[];
  readonly openBudget?: OpenSearchBudget;
}

function deviceObjects({
  slices = [],
  claims = [],
  classes = [deviceClass()],
  moving = [],
}: WorldDraft): DeviceObjects {
  return {
    slices,
    claims: byKey(...claims),
    classes: new Map(classes.map((one) => [one.metadata.name ?? "", one])),
    movingPods: new Set(moving),
  };
}

export function allocator(draft: WorldDraft): DeviceAllocator {
  return new DeviceAllocator(deviceObjects(draft), kwokPolicy, draft.openBudget);
}

export interface TypeDraft {
  readonly devices?: readonly (string | SliceDevice)[];
  readonly pool?: string;
  readonly sharedCounters?: ResourceSlice["spec"]["sharedCounters"];
  readonly attributeBindings?: readonly AttributeBinding[];
}

interface HostDraft {
  readonly nodeName?: string;
  readonly labels?: Readonly<Record<string, string | readonly string[]>>;
  readonly types?: Readonly<Record<string, TypeDraft>>;
}

/** A node of one type without devices of its own, unless it says otherwise. */
export function host(id: number, { nodeName, labels = {}, types = { "type-1": {} } }: HostDraft = {}): DeviceHost {
  const items = Object.entries(labels).map(([key, values]) => ({ key, operator: "In", values: [values].flat() }));
  return {
    id,
    nodeName,
    requirements: Requirements.fromItems(items, kwokPolicy),
    types: Object.entries(types).map(([name, { devices, pool = "own", sharedCounters, attributeBindings }]) => ({
      name,
      templates:
        devices === undefined
          ? noTemplateDevices
          : templateDevicesOf({
              resourceSlices: [
                {
                  driver: gpuDriver,
                  pool: { name: pool },
                  devices: devices.map((one) => (typeof one === "string" ? { name: one } : one)),
                },
                ...(sharedCounters ? [{ driver: gpuDriver, pool: { name: pool }, sharedCounters }] : []),
              ],
              ...(attributeBindings && { attributeBindings }),
            }),
    })),
  };
}

/** What each type gets, as pool/device; or why not. */
export function outcome(result: DeviceAllocation | DeviceRefusal): unknown {
  if ("reason" in result) return result.reason;
  return Object.fromEntries(
    [...result.found].map(([type, found]) => [type, found.map(({ device }) => device.key.slice(gpuDriver.length + 1))]),
  );
}

/** Allocates and commits with all types that have devices. */
export function take(devices: DeviceAllocator, where: DeviceHost, ...claims: readonly ResourceClaim[]): unknown {
  const result = devices.allocate(where, claims);
  if (!("reason" in result)) devices.commit(where.id, result, result.types);
  return outcome(result);
}
