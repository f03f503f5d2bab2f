import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DeviceRequest, ResourceClaim, SliceDevice } from "../../src/api/devices/device-objects.ts";
import { deviceClass, exactly, matchAttribute, resourceClaim, resourceSlice } from "../builders/devices.ts";
import { allocator, host, outcome, type TypeDraft, zoneLabel } from "./allocator-world.ts";
import { SlowAllocator } from "./slow-allocator.ts";

/** A small universe in which much is shared, so that most searches have to go back somewhere. */
const deviceDraft = fc.record({
  numa: fc.constantFrom("a", "b", undefined),
  slots: fc.constantFrom(0, 1, 2),
  memory: fc.constantFrom(undefined, undefined, 4, 6),
});

const sliceDevice = (
  name: string,
  { numa, slots, memory }: { numa: string | undefined; slots: number; memory: number | undefined },
): SliceDevice => ({
  name,
  ...(numa !== undefined && { attributes: { numa: { string: numa } } }),
  ...(slots > 0 && { consumesCounters: [{ counterSet: "set", counters: { slots: { value: String(slots) } } }] }),
  ...(memory !== undefined && { allowMultipleAllocations: true, capacity: { memory: { value: String(memory) } } }),
});

const poolDraft = fc.record({
  devices: fc.array(deviceDraft, { maxLength: 2 }),
  slots: fc.integer({ min: 0, max: 4 }),
  zone: fc.constantFrom("z1", "z2", undefined, undefined),
});

const requestDraft = fc.record({
  count: fc.constantFrom(1, 1, 1, 2, undefined),
  numa: fc.constantFrom("a", "b", undefined, undefined),
  memory: fc.constantFrom(undefined, 2, 3),
  hasAlternative: fc.constantFrom(false, false, true),
});

function deviceRequest(
  name: string,
  draft: { count: number | undefined; numa: string | undefined; memory: number | undefined; hasAlternative: boolean },
): DeviceRequest {
  const { count, numa, memory, hasAlternative } = draft;
  const selector = numa === undefined ? "true" : `device.attributes["gpu.example.com"].?numa.orValue("") == "${numa}"`;
  const request = exactly(name, {
    selector,
    ...(count === undefined ? { allocationMode: "All" } : { count }),
    ...(memory !== undefined && { capacity: { requests: { memory: String(memory) } } }),
  });
  if (!hasAlternative || request.exactly === undefined) return request;
  const first = { ...request.exactly, name: "first", count: (count ?? 1) + 1, allocationMode: "ExactCount" };
  return { name, firstAvailable: [first, { ...request.exactly, name: "second" }] };
}

const claimDraft = fc.record({
  requests: fc.array(requestDraft, { minLength: 1, maxLength: 2 }),
  matches: fc.boolean(),
});

const typeDraft = fc.record({
  devices: fc.array(deviceDraft, { maxLength: 2 }),
  slots: fc.integer({ min: 0, max: 3 }),
});

const caseDraft = fc.record({
  pools: fc.array(poolDraft, { maxLength: 2 }),
  types: fc.array(typeDraft, { minLength: 1, maxLength: 2 }),
  /** Each pod has claims and wants to be on a host; some types are dropped when it is placed. */
  pods: fc.array(
    fc.record({
      host: fc.constantFrom(1, 2),
      claims: fc.array(claimDraft, { minLength: 1, maxLength: 2 }),
      drops: fc.nat(3),
    }),
    { minLength: 1, maxLength: 4 },
  ),
});

/** The twin tries every device in every slot. */
function slotsOf(claims: readonly ResourceClaim[]): number {
  const most = ({ exactly: one, firstAvailable = [] }: DeviceRequest): number =>
    Math.max(one?.count ?? 0, ...firstAvailable.map(({ count = 0 }) => count));
  return claims
    .flatMap(({ spec }) => spec.devices?.requests ?? [])
    .reduce((total, request) => total + most(request), 0);
}

const counterSets = (slots: number) => [{ name: "set", counters: { slots: { value: String(slots) } } }];

describe("02 §5.14 a slow allocator that tries everything", () => {
  it("02:D-6 finds the same devices, pod after pod", () => {
    fc.assert(
      fc.property(caseDraft, ({ pools, types, pods }) => {
        const slices = pools.flatMap(({ devices, slots, zone }, at) => {
          const place =
            zone === undefined
              ? {}
              : {
                  nodeSelector: {
                    nodeSelectorTerms: [{ matchExpressions: [{ key: zoneLabel, operator: "In", values: [zone] }] }],
                  },
                };
          return [
            resourceSlice(`devices-${at}`, {
              ...place,
              pool: `p${at}`,
              count: 2,
              devices: devices.map((one, n) => sliceDevice(`d${n}`, one)),
            }),
            resourceSlice(`counters-${at}`, { pool: `p${at}`, count: 2, sharedCounters: counterSets(slots) }),
          ];
        });
        const hostTypes: Record<string, TypeDraft> = Object.fromEntries(
          types.map(({ devices, slots }, at) => [
            `t${at}`,
            { devices: devices.map((one, n) => sliceDevice(`own${n}`, one)), sharedCounters: counterSets(slots) },
          ]),
        );
        const fast = allocator({ slices, classes: [deviceClass()] });
        const slow = new SlowAllocator(slices);
        for (const [number, { host: id, claims, drops }] of pods.entries()) {
          const where = host(id, { types: hostTypes });
          const wanted: readonly ResourceClaim[] = claims.map(({ requests, matches }, at) =>
            resourceClaim(`pod${number}-${at}`, {
              requests: requests.map((one, n) => deviceRequest(`r${n}`, one)),
              ...(matches && { constraints: [matchAttribute("gpu.example.com/numa")] }),
            }),
          );
          if (slotsOf(wanted) > 4) continue;
          const result = fast.allocate(where, wanted);
          const expected = slow.allocate(where, wanted);
          expect("reason" in result ? undefined : outcome(result)).toEqual(
            expected && Object.fromEntries(expected.names),
          );
          if ("reason" in result || expected === undefined) continue;
          const kept = new Set([...result.types].filter((_, at) => ((drops >> at) & 1) === 0));
          fast.commit(id, result, kept);
          slow.commit(id, expected, kept);
        }
      }),
      { numRuns: process.env["LONG"] ? 5_000 : 150 },
    );
  });
});
