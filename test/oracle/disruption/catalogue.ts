import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Draw } from "../../differential/draw.ts";
import { keys, zones } from "../../differential/names.ts";
import type { CatalogueType } from "../../differential/problem.ts";
import { type RandomCatalogue, randomCatalogue } from "../../differential/random-catalogue.ts";

/** A catalogue, and the types that nodes of the cluster may have been launched as. */
export interface NodeCatalogue extends RandomCatalogue {
  readonly launchable: readonly LaunchableType[];
}

export interface LaunchableType {
  readonly name: string;
  readonly cpu: number;
  /** Labels that tell its offerings apart. */
  readonly offers: readonly Readonly<Record<string, string>>[];
}

/** Mostly the built-in types of one architecture, so that nodes can take each other's pods. */
export function nodeCatalogue(draw: Draw): NodeCatalogue {
  const kind = draw.pick(["kwok", "kwok", "kwok", "kwok", "file", "file", "file", "any"] as const);
  if (kind === "kwok") return kwokCatalogue(draw);
  if (kind === "file") return fileCatalogue(draw.pick(readdirSync(folder).sort()));
  const random = randomCatalogue(draw);
  const { catalogue } = random;
  if (typeof catalogue !== "string") return { ...random, launchable: catalogue.map(launchable) };
  return catalogue === "kwok" ? kwokCatalogue(draw) : { ...random, launchable: random.typeNames.map(fakeType(random)) };
}

function kwokCatalogue(draw: Draw): NodeCatalogue {
  const sizes = draw.pick([
    [1, 2, 4, 8],
    [1, 2, 4, 8, 16],
    [2, 4],
    [4, 8, 16, 32],
  ]);
  const families = draw.some(["c", "s", "m"], 1, 3);
  const offers = offersIn(zones);
  const types = families.flatMap((family) =>
    sizes.map((size) => ({ name: `${family}-${size}x-amd64-linux`, cpu: size, offers })),
  );
  return {
    catalogue: "kwok",
    typeNames: types.map(({ name }) => name),
    zones,
    hasReservations: false,
    launchable: types,
  };
}

const folder = join(process.cwd(), "test", "fixtures", "scenarios", "catalogues");

function fileCatalogue(file: string): NodeCatalogue {
  const types = JSON.parse(readFileSync(join(folder, file), "utf8")) as readonly CatalogueType[];
  const all = types.map(launchable);
  const placed = all.flatMap(({ offers }) => offers.map((offer) => offer[keys.zone] ?? ""));
  return {
    catalogue: types,
    typeNames: types.map((type) => type.name),
    zones: [...new Set(placed)].sort(),
    hasReservations: file.startsWith("reserved"),
    launchable: all,
  };
}

function launchable({ name, resources, offerings }: CatalogueType): LaunchableType {
  const offers = offerings.map(({ Requirements }) =>
    Object.fromEntries(
      Requirements.flatMap(({ key, values = [] }) => (values[0] === undefined ? [] : [[key, values[0]]])),
    ),
  );
  return { name, cpu: cpuMilliOf(resources["cpu"] ?? "1") / 1000, offers };
}

/** Of an amount like `2` or `7910m`. */
export function cpuMilliOf(amount: string): number {
  return amount.endsWith("m") ? Number(amount.slice(0, -1)) : Number(amount) * 1000;
}

function fakeType({ zones: places }: RandomCatalogue) {
  return (name: string, index: number): LaunchableType => ({ name, cpu: index + 1, offers: offersIn(places) });
}

function offersIn(places: readonly string[]): readonly Readonly<Record<string, string>>[] {
  return places.flatMap((zone) =>
    ["spot", "on-demand"].map((capacityType) => ({ [keys.zone]: zone, [keys.capacityType]: capacityType })),
  );
}
