import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { resources } from "../../api/labels.ts";
import { allocatableOf, type InstanceType } from "../../core/instance-type.ts";
import { amountOf } from "../../core/resources.ts";
import { ec2InstanceTypes } from "./catalogue.ts";

/** By family and size: cpu in millicores, memory in Mi, pods, and all other resources there are some of. */
type Published = readonly [cpuMilli: number, memoryMi: number, pods: number, other?: Readonly<Record<string, string>>];
const fixture = new URL("../../../test/fixtures/aws-allocatable.json", import.meta.url);
const published: Readonly<Record<string, Readonly<Record<string, Published>>>> = JSON.parse(
  readFileSync(fixture, "utf8"),
).families;

function catalogue(): ReadonlyMap<string, InstanceType> {
  const result = ec2InstanceTypes();
  if ("problem" in result) throw new Error(result.problem.message);
  return new Map(result.types.map((type) => [type.name, type]));
}

/** Not in the fixture: storage, which is the same for all, and branch interfaces, where the catalogue's table is newer. */
const notPublished = new Set<string>([
  resources.cpu,
  resources.memory,
  resources.pods,
  resources.ephemeralStorage,
  resources.podEni,
]);

function computed(type: InstanceType): Published {
  const left = allocatableOf(type);
  const main = [
    Number(amountOf(left, resources.cpu).milliValue()),
    Number(amountOf(left, resources.memory).value()) / 2 ** 20,
    Number(amountOf(left, resources.pods).value()),
  ] as const;
  const other = Object.entries(left).filter(([name]) => !notPublished.has(name));
  return other.length === 0 ? main : [...main, Object.fromEntries(other.map(([name, value]) => [name, String(value)]))];
}

describe("04 §8 allocatable as published", () => {
  const types = catalogue();
  const pages = Object.entries(published).flatMap(([family, sizes]) =>
    Object.entries(sizes).map(([size, figures]) => ({ name: `${family}.${size}`, figures })),
  );

  it("the catalogue and the pages have 882 types in common, and the catalogue no others", () => {
    expect(pages).toHaveLength(882);
    expect([...types.keys()].sort()).toEqual(pages.map(({ name }) => name).sort());
  });

  it("04 §2.3, §2.4 cpu, memory, pods and devices of every one are the published figures", () => {
    const differing = pages.flatMap(({ name, figures }) => {
      const type = types.get(name);
      const ours = type && computed(type);
      return JSON.stringify(sorted(ours)) === JSON.stringify(sorted(figures)) ? [] : [{ name, ours, figures }];
    });
    expect(differing).toEqual([]);
  });

  it("04 §2.3, §2.4 of 20Gi storage 17Gi are left on every one", () => {
    const storage = [...types.values()].map((type) =>
      amountOf(allocatableOf(type), resources.ephemeralStorage).toString(),
    );
    expect(new Set(storage)).toEqual(new Set(["17Gi"]));
  });
});

function sorted(figures: Published | undefined): unknown {
  if (figures?.[3] === undefined) return figures;
  const [cpu, memory, pods, other] = figures;
  return [cpu, memory, pods, Object.entries(other).sort()];
}
