import { ec2InstanceTypes } from "../../src/providers/aws/index.ts";
import { kwokInstanceTypes } from "../../src/providers/kwok/catalogue.ts";
import { toKwokFile } from "../../src/providers/kwok/catalogue-export.ts";
import type { Draw } from "./draw.ts";
import { keys, zones } from "./names.ts";
import type { CatalogueOffering, CatalogueType, DifferentialProblem } from "./problem.ts";

/** A catalogue, and what the other objects of a problem have to know of it. */
export interface RandomCatalogue {
  readonly catalogue: DifferentialProblem["catalogue"];
  readonly typeNames: readonly string[];
  readonly zones: readonly string[];
  readonly hasReservations: boolean;
}

export function randomCatalogue(draw: Draw): RandomCatalogue {
  const kind = draw.pick(["kwok", "kwok", "kwok", "own", "own", "own", "own", "fake", "ec2"] as const);
  switch (kind) {
    case "kwok":
      return { catalogue: "kwok", typeNames: kwokTypeNames(draw), zones, hasReservations: false };
    case "fake": {
      const count = draw.pick([1, 3, 10, 40]);
      const typeNames = draw.times(Math.min(count, 5), (index) => `fake-it-${index}`);
      return { catalogue: `fake:${count}`, typeNames, zones: fakeZones, hasReservations: false };
    }
    case "ec2":
      return ec2Catalogue(draw);
    case "own":
      return ownCatalogue(draw);
  }
}

const fakeZones = ["test-zone-1", "test-zone-2", "test-zone-3"];

function kwokTypeNames(draw: Draw): readonly string[] {
  const all = kwokInstanceTypes().map(({ name }) => name);
  return draw.some(all, 3, 5);
}

/** A few real EC2 types, in the format both sides read. */
function ec2Catalogue(draw: Draw): RandomCatalogue {
  const region = draw.pick(["us-east-1", "us-west-2"]);
  const types = draw.some(ec2Types(region), 5, 40);
  return {
    catalogue: types,
    typeNames: types.slice(0, 5).map(({ name }) => name),
    zones: zonesOf(types),
    hasReservations: false,
  };
}

/** By region; reading the catalogue takes longer than everything else. */
const knownEc2Types = new Map<string, readonly CatalogueType[]>();

function ec2Types(region: string): readonly CatalogueType[] {
  const known = knownEc2Types.get(region);
  if (known !== undefined) return known;
  const found = ec2InstanceTypes({ region, zones: ["a", "b", "c"].map((zone) => region + zone) });
  if (!("types" in found)) throw new Error(`no EC2 types in ${region}`);
  const includesLabel = (label: string): boolean => ec2Labels.has(label);
  const all = JSON.parse(toKwokFile(found.types, { includesLabel })) as readonly CatalogueType[];
  const offered = all.filter(({ offerings }) => offerings.length > 0);
  knownEc2Types.set(region, offered);
  return offered;
}

const ec2Labels = new Set(["karpenter.k8s.aws/instance-category", "karpenter.k8s.aws/instance-generation"]);

function ownCatalogue(draw: Draw): RandomCatalogue {
  const hasReservations = draw.chance(0.25);
  const types = draw.times(draw.count(1, 6), (index) => ownType(draw, index, hasReservations));
  return { catalogue: types, typeNames: types.map(({ name }) => name), zones: zonesOf(types), hasReservations };
}

function ownType(draw: Draw, index: number, hasReservations: boolean): CatalogueType {
  const cpu = draw.pick([1, 2, 4, 4, 8, 16]);
  const price = draw.pick([0.01, 0.02, 0.05, 0.1]) * cpu;
  const places = draw.some(zones, 1, 4);
  const capacityTypes = draw.some(["spot", "on-demand"], 1, 2);
  const none = hasReservations ? [{ key: keys.reservation, operator: "DoesNotExist" }] : [];
  const offerings: CatalogueOffering[] = places.flatMap((zone) =>
    capacityTypes.flatMap((capacityType) =>
      draw.chance(0.15)
        ? []
        : [
            {
              Price: roundPrice(
                capacityType === "spot" ? price * draw.pick([0.3, 0.5]) : price * draw.pick([1, 1, 1.2]),
              ),
              Available: true as const,
              Requirements: [...offeringRequirements(zone, capacityType), ...none],
            },
          ],
    ),
  );
  const zone = places[0] ?? "test-zone-a";
  const fallback = {
    Price: roundPrice(price),
    Available: true as const,
    Requirements: [...offeringRequirements(zone, "on-demand"), ...none],
  };
  return {
    name: `${draw.pick(["c", "m", "s"])}${index}.${draw.pick(["large", "xlarge", "small"])}`,
    architecture: draw.pick(["amd64", "amd64", "arm64"]),
    operatingSystems: draw.pick([["linux"], ["linux"], ["linux", "windows"]]),
    resources: {
      cpu: String(cpu),
      memory: `${cpu * draw.pick([1, 2, 4, 8])}Gi`,
      ...draw.maybe(0.3, () => ({ pods: draw.pick(["4", "8", "29"]) })),
      ...draw.maybe(0.3, () => ({ "ephemeral-storage": draw.pick(["20Gi", "100Gi"]) })),
      ...draw.maybe(0.25, () => ({ [keys.gpu]: draw.pick(["1", "2", "0"]) })),
      ...draw.maybe(0.1, () => ({ "hugepages-2Mi": "64Mi" })),
    },
    offerings: [
      ...(offerings.length === 0 ? [fallback] : offerings),
      ...reservedOfferings(draw, places, hasReservations),
    ],
  };
}

function reservedOfferings(
  draw: Draw,
  places: readonly string[],
  hasReservations: boolean,
): readonly CatalogueOffering[] {
  if (!hasReservations || draw.chance(0.4)) return [];
  return draw.some(places, 1, 2).map((zone) => ({
    Price: 1e-7,
    Available: true,
    ReservationCapacity: draw.pick([1, 1, 2, 0]),
    Requirements: [
      ...offeringRequirements(zone, "reserved"),
      { key: keys.reservation, operator: "In", values: [draw.pick(["cr-1", "cr-2", "cr-3"])] },
    ],
  }));
}

function offeringRequirements(zone: string, capacityType: string) {
  return [
    { key: keys.capacityType, operator: "In", values: [capacityType] },
    { key: keys.zone, operator: "In", values: [zone] },
  ];
}

function roundPrice(price: number): number {
  return Math.round(price * 1e6) / 1e6;
}

function zonesOf(types: readonly CatalogueType[]): readonly string[] {
  const values = types.flatMap(({ offerings }) =>
    offerings.flatMap(({ Requirements }) => Requirements.find(({ key }) => key === keys.zone)?.values ?? []),
  );
  return [...new Set(values)].sort();
}
