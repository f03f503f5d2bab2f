import type { ResourceClaim } from "../../api/devices/device-objects.ts";
import { addAmount, capacityKey, deviceKey, nanoOf } from "./device.ts";

/** What the claims of the cluster have of published devices. */
export interface AllocatedDevices {
  /** Devices that are in use as a whole, by key. */
  readonly exclusive: ReadonlySet<string>;
  /** Devices that several claims share, by key. */
  readonly shared: ReadonlySet<string>;
  /** What is in use of shared devices, by capacity key. */
  readonly capacity: ReadonlyMap<string, bigint>;
}

interface DeviceShare {
  readonly pods: readonly string[];
  /** Undefined if the claim has the whole device. */
  readonly consumed: Readonly<Record<string, string | number>> | undefined;
}

/**
 * Devices whose pods all move are free; of a shared device, the share of claims whose pods all move. Upstream does not
 * ask about consumers that are no pods here. (02:D-11)
 */
export function allocatedDevices(claims: Iterable<ResourceClaim>, movingPods: ReadonlySet<string>): AllocatedDevices {
  const exclusive = new Set<string>();
  const shared = new Set<string>();
  const capacity = new Map<string, bigint>();
  const isMoving = (pods: readonly string[]): boolean => pods.length > 0 && pods.every((uid) => movingPods.has(uid));
  for (const [device, shares] of sharesByDevice(claims)) {
    if (isMoving(shares.flatMap(({ pods }) => pods))) continue;
    if (shares.every(({ consumed }) => consumed === undefined)) exclusive.add(device);
    else {
      const left = consumedBy(shares.filter(({ pods }) => !isMoving(pods)));
      if (left.size > 0) shared.add(device);
      for (const [name, amount] of left) capacity.set(capacityKey(device, name), amount);
    }
  }
  return { exclusive, shared, capacity };
}

function sharesByDevice(claims: Iterable<ResourceClaim>): ReadonlyMap<string, readonly DeviceShare[]> {
  const byDevice = new Map<string, DeviceShare[]>();
  for (const { status } of claims) {
    const results = status?.allocation?.devices?.results ?? [];
    if (results.length === 0) continue;
    const pods = podConsumers(status?.reservedFor);
    // A claim may have a device several times; what it has last counts.
    const own = new Map(results.map((result) => [deviceKey(result), result.consumedCapacity]));
    for (const [device, consumed] of own) {
      const shares = byDevice.get(device) ?? [];
      shares.push({ pods, consumed });
      byDevice.set(device, shares);
    }
  }
  return byDevice;
}

function consumedBy(shares: readonly DeviceShare[]): ReadonlyMap<string, bigint> {
  const total = new Map<string, bigint>();
  for (const { consumed = {} } of shares)
    for (const [name, amount] of Object.entries(consumed)) addAmount(total, name, nanoOf(amount));
  return new Map([...total].filter(([, amount]) => amount > 0n));
}

type ReservedFor = NonNullable<ResourceClaim["status"]>["reservedFor"];

function podConsumers(reservedFor: ReservedFor = []): readonly string[] {
  return reservedFor.filter(isPodConsumer).map(({ uid }) => uid);
}

/** Whether a claim is reserved, and only by pods that move: it gets devices anew. (02:D-5) */
export function isReservedByMovingPods({ status }: ResourceClaim, movingPods: ReadonlySet<string>): boolean {
  const reservedFor = status?.reservedFor ?? [];
  return reservedFor.length > 0 && reservedFor.every((one) => isPodConsumer(one) && movingPods.has(one.uid));
}

function isPodConsumer({ resource, apiGroup = "" }: NonNullable<ReservedFor>[number]): boolean {
  return resource === "pods" && apiGroup === "";
}
