import { loadavg } from "node:os";
import type { Ec2NodeClass } from "../src/api/kinds/ec2-node-class.ts";
import { compileExpression } from "../src/api/validation/kubelet-expressions.ts";
import { Ec2InstanceTypes } from "../src/providers/aws/instance-types/ec2-instance-types.ts";
import { InstanceTypeDiscovery } from "../src/providers/aws/instance-types/instance-type-discovery.ts";
import { LivePrices } from "../src/providers/aws/instance-types/live-prices.ts";
import { ReservationCounts } from "../src/providers/aws/instance-types/reservation-counts.ts";
import { SeenMemory } from "../src/providers/aws/instance-types/seen-memory.ts";
import { UnavailableCapacity } from "../src/providers/aws/instance-types/unavailable-capacity.ts";
import { silentLogger } from "../src/util/logger.ts";
import { VirtualClock } from "../src/util/virtual-clock.ts";
import { awsWorld } from "../test/aws/aws-world.ts";
import { populatedAws } from "../test/aws/fake-aws.ts";

/** `npm run bench -- aws`: how long instance types take to resolve, and how launches are batched. */

const rounds = 15;

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

function timed<T>(run: () => T): { readonly ms: number; readonly value: T } {
  const startedAt = performance.now();
  const value = run();
  return { ms: performance.now() - startedAt, value };
}

/** A class with subnets in three zones; the name is all that differs, so that each is built anew. */
function nodeClass(name: string): Ec2NodeClass {
  const subnets = ["a", "b", "c"].map((letter, index) => ({
    id: `subnet-${letter}`,
    zone: `us-west-2${letter}`,
    zoneID: `usw2-az${index + 1}`,
  }));
  return {
    metadata: { name },
    spec: { amiSelectorTerms: [{ alias: "al2023@latest" }], role: "role" },
    status: { subnets, amis: [{ id: "ami-1", requirements: [] }] },
  } as unknown as Ec2NodeClass;
}

async function instanceTypes(): Promise<string> {
  const clock = new VirtualClock({ startAt: 0 });
  const aws = populatedAws({ clock, types: () => true }).api;
  const discovery = new InstanceTypeDiscovery({ aws, log: silentLogger });
  await discovery.start({ signal: new AbortController().signal });
  const resolver = () =>
    new Ec2InstanceTypes({
      region: aws.region,
      discovery,
      prices: new LivePrices({ aws, clock, isIsolatedVpc: false }),
      unavailable: new UnavailableCapacity({ clock }),
      reservations: new ReservationCounts({ clock }),
      seenMemory: new SeenMemory({ clock }),
      placementGroupOf: () => undefined,
      shiftedZoneIds: () => new Set(),
      nodeSettings: { vmMemoryOverheadPercent: 0.075, reservedEnis: 0 },
      usesReservations: true,
      compileExpression,
    });
  const first = timed(() => resolver().list(nodeClass("first")));
  const cold = Array.from(
    { length: rounds },
    (_, index) => timed(() => resolver().list(nodeClass(`cold-${index}`))).ms,
  );
  const warm = resolver();
  warm.list(nodeClass("warm"));
  const cached = Array.from({ length: rounds }, () => timed(() => warm.list(nodeClass("warm"))).ms);
  return `instance types: ${first.value.length} types, 3 zones: first ${first.ms.toFixed(0)} ms, then ${median(cold).toFixed(0)} ms anew, ${median(cached).toFixed(2)} ms cached (bar 150 ms)`;
}

async function launches(): Promise<string> {
  const world = await awsWorld();
  const requirements = [{ key: "node.kubernetes.io/instance-type", operator: "In" as const, values: ["m5.large"] }];
  const startedAt = world.clock.now();
  const wallAt = performance.now();
  let lastAt = startedAt;
  const claims = Array.from({ length: 1_000 }, (_, index) => world.claimOf(`claim-${index}`, { requirements }));
  const created = Promise.all(
    claims.map(async (claim) => {
      const instance = await world.provider.create(claim);
      lastAt = world.clock.now();
      return instance;
    }),
  );
  const instances = await world.during(created, 60);
  const fleets = world.aws.inputsOf("ec2:CreateFleet").filter((input) => !(input as { DryRun?: boolean }).DryRun);
  await world.stop();
  return `launches: ${new Set(instances.map(({ providerId }) => providerId)).size} instances for 1000 claims in ${((lastAt - startedAt) / 1_000).toFixed(2)} s of virtual time (bar 30 s), ${fleets.length} CreateFleet (bar 1), ${(performance.now() - wallAt).toFixed(0)} ms of work`;
}

process.stdout.write(`load ${loadavg()[0]?.toFixed(1)}\n${await instanceTypes()}\n${await launches()}\n`);
