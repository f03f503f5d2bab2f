import { expect, it } from "vitest";
import { awsLabels, labels } from "../../api/labels.ts";
import { allocatableOf, type InstanceType, noOverhead } from "../../core/instance-type.ts";
import { Requirement } from "../../core/requirement.ts";
import { Requirements } from "../../core/requirements.ts";
import type { Resources } from "../../core/resources.ts";
import { Quantity } from "../../util/quantity.ts";
import { kwokInstanceTypes } from "./catalogue.ts";
import { toKwokFile } from "./catalogue-export.ts";
import { parseKwokFile } from "./catalogue-file.ts";

function reread(types: readonly InstanceType[], options?: Parameters<typeof toKwokFile>[1]): readonly InstanceType[] {
  const result = parseKwokFile(toKwokFile(types, options));
  if ("types" in result) return result.types;
  throw new Error(JSON.stringify(result.problems));
}

const texts = (list: Resources) =>
  Object.fromEntries(
    Object.entries(list)
      .map(([name, quantity]) => [name, quantity.toString()])
      .sort(),
  );

const plain = (type: InstanceType) => ({
  name: type.name,
  requirements: String(type.requirements),
  capacity: texts(type.capacity),
  offerings: type.offerings.map((offering) => ({ ...offering, requirements: String(offering.requirements) })),
});

const foreign: InstanceType = {
  name: "m5.large",
  requirements: Requirements.of(
    Requirement.in(labels.instanceType, ["m5.large"]),
    Requirement.in(labels.arch, ["amd64"]),
    Requirement.in(labels.os, ["linux"]),
    Requirement.in(awsLabels.instanceCategory, ["m"]),
    Requirement.doesNotExist(awsLabels.instanceGpuName),
  ),
  offerings: [
    { requirements: place("a"), price: 0.096, available: true },
    { requirements: place("b"), price: 0, available: false },
  ],
  capacity: {
    cpu: Quantity.of(2),
    memory: Quantity.parse("8Gi"),
    pods: Quantity.of(29),
    "hugepages-2Mi": Quantity.parse("1Gi"),
  },
  overhead: { ...noOverhead, evictionThreshold: { memory: Quantity.parse("100Mi") } },
};

function place(zone: string): Requirements {
  return Requirements.of(Requirement.in(labels.zone, [zone]), Requirement.in(labels.capacityType, ["on-demand"]));
}

it("02:K-4 what was written reads back the same", () => {
  expect(reread(kwokInstanceTypes()).map(plain)).toEqual(kwokInstanceTypes().map(plain));
});

it("keeps what pods can have, though KWOK's overhead is its own", () => {
  const [type] = reread([foreign]);
  expect(type && texts(allocatableOf(type))).toEqual(texts(allocatableOf(foreign)));
});

it("writes available offerings only, with the provider's labels on them", () => {
  const [type] = reread([foreign]);
  expect(type?.offerings.map((offering) => [offering.price, String(offering.requirements)])).toEqual([
    [
      0.096,
      "karpenter.k8s.aws/instance-category In [m], karpenter.k8s.aws/instance-gpu-name DoesNotExist, " +
        "karpenter.sh/capacity-type In [on-demand], topology.kubernetes.io/zone In [a]",
    ],
  ]);
});

it("carries only the labels asked for", () => {
  const [type] = reread([foreign], { includesLabel: (label) => label === awsLabels.instanceCategory });
  expect(type?.offerings[0]?.requirements.has(awsLabels.instanceCategory)).toBe(true);
  expect(type?.offerings[0]?.requirements.has(awsLabels.instanceGpuName)).toBe(false);
});

it("leaves out a type that runs no operating system", () => {
  const none = { ...foreign, requirements: foreign.requirements.replace(Requirement.doesNotExist(labels.os)) };
  expect(reread([none, foreign]).map(({ name }) => name)).toEqual(["m5.large"]);
});
