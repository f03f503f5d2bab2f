import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import { kwokLabels, labels } from "../../api/labels.ts";
import { formatPath } from "../../api/problem.ts";
import {
  allocatableOf,
  type InstanceType,
  offeringCapacityType,
  offeringReservationId,
  offeringZone,
} from "../../core/instance-type.ts";
import { parseKwokFile } from "./catalogue-file.ts";

const place = (zoneName: string, capacity: string, ...more: object[]) => [
  { key: labels.capacityType, operator: "In", values: [capacity] },
  { key: labels.zone, operator: "In", values: [zoneName] },
  ...more,
];
const offering = (over: object = {}) => ({ Price: 1, Available: true, Requirements: place("a", "spot"), ...over });
const type = (over: object = {}) => ({
  name: "t.large",
  architecture: "amd64",
  operatingSystems: ["linux"],
  resources: { cpu: "2", memory: "4Gi", pods: "32" },
  offerings: [offering()],
  ...over,
});

function read(value: unknown): readonly InstanceType[] {
  const result = parseKwokFile(JSON.stringify(value));
  if ("types" in result) return result.types;
  throw new Error(JSON.stringify(result.problems));
}

function problems(value: unknown): string[] {
  const result = parseKwokFile(JSON.stringify(value));
  return "problems" in result ? result.problems.map(({ code, path }) => `${code} ${formatPath(path)}`) : [];
}

const one = (over: object) => read([type(over)])[0] as InstanceType;

describe("reading a file in the KWOK format", () => {
  it("02:K-4 reads name, architecture, systems, resources and offerings", () => {
    const [read1] = read([
      type({ offerings: [offering(), offering({ Price: 2.5, Requirements: place("b", "on-demand") })] }),
    ]);
    expect(read1?.name).toBe("t.large");
    expect(read1?.offerings.map((each) => [offeringZone(each), offeringCapacityType(each), each.price])).toEqual([
      ["a", "spot", 1],
      ["b", "on-demand", 2.5],
    ]);
    expect(String(read1?.requirements)).toBe(
      "karpenter.kwok.sh/instance-cpu In [2], karpenter.kwok.sh/instance-family In [t], " +
        "karpenter.kwok.sh/instance-memory In [4Gi], karpenter.kwok.sh/instance-size In [large], " +
        "karpenter.sh/capacity-type In [on-demand spot], kubernetes.io/arch In [amd64], kubernetes.io/os In [linux], " +
        "node.kubernetes.io/instance-type In [t.large], topology.kubernetes.io/zone In [a b]",
    );
    expect(String(read1 && allocatableOf(read1).cpu)).toBe("1900m");
  });

  it("02:K-4 whatever is listed is available", () => {
    expect(one({ offerings: [offering({ Available: false })] }).offerings[0]?.available).toBe(true);
  });

  it("02:K-4 pods default to 110", () => {
    expect(String(one({ resources: { cpu: 2, memory: "4Gi" } }).capacity.pods)).toBe("110");
    expect(String(one({}).capacity.pods)).toBe("32");
  });

  it("02:K-4 field names are matched whatever their case, and unknown ones ignored", () => {
    const lower = { price: 3, requirements: place("a", "spot"), CapacityOverride: null };
    expect(one({ offerings: [lower], comment: "x" }).offerings[0]?.price).toBe(3);
  });

  it.each([
    ["m5.large", "large", "m5"],
    ["x2.24xlarge", "24xlarge", "x2"],
    ["c.metal", "metal", "c"],
    ["n1-standard-4", "2", "n1"],
    ["m5-flex.large", "2", "m5"],
    ["Standard_D2", "2", "S"],
    ["m5.huge", "2", "m5"],
  ])("02:K-5 %s is of size %s and family %s", (name, size, family) => {
    const { requirements } = one({ name });
    expect(requirements.get(kwokLabels.instanceSize).singleValue).toBe(size);
    expect(requirements.get(kwokLabels.instanceFamily).singleValue).toBe(family);
  });

  it("02:K-5 cpu and memory labels are canonical quantities", () => {
    const { requirements } = one({ resources: { cpu: "2000m", memory: "1024Gi" } });
    expect(requirements.get(kwokLabels.instanceCpu).singleValue).toBe("2");
    expect(requirements.get(kwokLabels.instanceMemory).singleValue).toBe("1Ti");
  });

  it("02:C-2 a reserved offering has an id and a count", () => {
    const none = { key: kwokLabels.reservationId, operator: "DoesNotExist" };
    const id = { key: kwokLabels.reservationId, operator: "In", values: ["cr-1"] };
    const reserved = offering({ ReservationCapacity: 2, Requirements: place("a", "reserved", id) });
    const { offerings } = one({ offerings: [offering({ Requirements: place("a", "spot", none) }), reserved] });
    expect(offerings.map((each) => [offeringReservationId(each), each.reservationCapacity])).toEqual([
      [undefined, undefined],
      ["cr-1", 2],
    ]);
    expect(problems([type({ offerings: [offering(), reserved] })])).toEqual(["required [0].offerings[0].Requirements"]);
    const { ReservationCapacity: _, ...uncounted } = reserved as { ReservationCapacity?: number };
    expect(problems([type({ offerings: [uncounted] })])).toEqual(["required [0].offerings[0].ReservationCapacity"]);
    const unnamed = { ...reserved, Requirements: place("a", "reserved") };
    expect(problems([type({ offerings: [unnamed] })])).toEqual(["required [0].offerings[0].Requirements"]);
    const half = { ...reserved, ReservationCapacity: 1.5 };
    expect(problems([type({ offerings: [half] })])).toEqual(["type [0].offerings[0].ReservationCapacity"]);
  });

  it("an empty list is an empty catalogue", () => {
    expect(read([])).toEqual([]);
  });
});

describe("a malformed file is a list of problems", () => {
  it("text that is not JSON", () => {
    const result = parseKwokFile("[{");
    expect("problems" in result && result.problems.map(({ code, path }) => ({ code, path }))).toEqual([
      { code: "unreadable", path: [] },
    ]);
    expect("types" in parseKwokFile(JSON.stringify([type()]))).toBe(true);
  });

  it.each<[string, unknown, string[]]>([
    ["not a list", {}, ["type "]],
    ["null", null, ["required "]],
    ["a type that is text", ["m5.large"], ["type [0]"]],
    ["no name", [type({ name: undefined })], ["required [0].name"]],
    ["an empty name", [type({ name: "" })], ["too-short [0].name"]],
    ["a name that is no label value", [type({ name: "a b" })], ["invalid-value [0].name"]],
    ["a name that is too long", [type({ name: "a".repeat(64) })], ["invalid-value [0].name"]],
    ["a numeric architecture", [type({ architecture: 64 })], ["type [0].architecture"]],
    ["no operating systems", [type({ operatingSystems: [] })], ["too-few [0].operatingSystems"]],
    ["an odd operating system", [type({ operatingSystems: ["linux", 1] })], ["type [0].operatingSystems[1]"]],
    ["no resources", [type({ resources: undefined })], ["required [0].resources"]],
    ["no memory", [type({ resources: { cpu: "1" } })], ["required [0].resources.memory"]],
    ["a bad quantity", [type({ resources: { cpu: "1x", memory: "1Gi" } })], ["format [0].resources.cpu"]],
    ["a negative quantity", [type({ resources: { cpu: "-1", memory: "1Gi" } })], ["too-small [0].resources.cpu"]],
    ["a bad resource name", [type({ resources: { cpu: 1, memory: 1, "a b": 1 } })], ["invalid-key [0].resources[a b]"]],
    ["offerings that are an object", [type({ offerings: {} })], ["type [0].offerings"]],
    ["an offering that is a number", [type({ offerings: [1] })], ["type [0].offerings[0]"]],
    ["no price", [type({ offerings: [offering({ Price: undefined })] })], ["required [0].offerings[0].Price"]],
    ["a price that is text", [type({ offerings: [offering({ Price: "1" })] })], ["type [0].offerings[0].Price"]],
    ["a negative price", [type({ offerings: [offering({ Price: -1 })] })], ["too-small [0].offerings[0].Price"]],
    ["no requirements", [type({ offerings: [{ Price: 1 }] })], ["required [0].offerings[0].Requirements"]],
  ])("%s", (_, value, expected) => {
    expect(problems(value)).toEqual(expected);
  });

  it.each<[string, object, string]>([
    ["a key that is none", { key: "a b", operator: "Exists" }, "invalid-key [0].offerings[0].Requirements[2].key"],
    ["no operator", { key: "k" }, "required [0].offerings[0].Requirements[2].operator"],
    [
      "an unknown operator",
      { key: "k", operator: "Near" },
      "unknown-operator [0].offerings[0].Requirements[2].operator",
    ],
    ["In without values", { key: "k", operator: "In" }, "value-count [0].offerings[0].Requirements[2].values"],
    ["Gt of text", { key: "k", operator: "Gt", values: ["x"] }, "value-count [0].offerings[0].Requirements[2].values"],
    [
      "a bad value",
      { key: "k", operator: "In", values: ["-"] },
      "invalid-value [0].offerings[0].Requirements[2].values[0]",
    ],
    ["values that are text", { key: "k", operator: "In", values: "x" }, "type [0].offerings[0].Requirements[2].values"],
  ])("a requirement with %s", (_, item, expected) => {
    expect(problems([type({ offerings: [offering({ Requirements: place("a", "spot", item) })] })])).toEqual([expected]);
  });

  it("02:C-2 an offering without zone or capacity type, and all problems of a file at once", () => {
    const value = [type({ name: 1, offerings: [offering({ Price: null, Requirements: [] })] }), 2];
    expect(problems(value)).toEqual([
      "type [0].name",
      "required [0].offerings[0].Price",
      "required [0].offerings[0].Requirements",
      "required [0].offerings[0].Requirements",
      "type [1]",
    ]);
  });

  it("says what is wrong and what is expected", () => {
    const result = parseKwokFile(
      JSON.stringify([
        type({ name: "a b", resources: { cpu: "1x" }, offerings: [offering({ Price: -1, Requirements: {} })] }),
      ]),
    );
    expect("problems" in result && result.problems.map(({ message, expected }) => `${message}: ${expected}`)).toEqual([
      "\"a b\" is not a label value: at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends",
      '"1x" is not a quantity: a quantity like 500m or 16Gi',
      "is missing: a quantity like 500m or 16Gi",
      '"-1" is negative: zero or more',
      "is an object: a list",
    ]);
  });

  it("ignores a resource named __proto__", () => {
    const text = JSON.stringify([type()]).replace('"cpu"', '"__proto__":{"cpu":"1"},"cpu"');
    const result = parseKwokFile(text);
    expect("types" in result && Object.keys(result.types[0]?.capacity ?? {})).toEqual(["pods", "cpu", "memory"]);
  });

  it("never throws, whatever the JSON", { timeout: 60_000 }, () => {
    const good = JSON.stringify([type(), type()]);
    const spoilt = fc.tuple(fc.nat(good.length), fc.nat(30), fc.jsonValue()).map(([at, cut, junk]) => {
      return good.slice(0, at) + JSON.stringify(junk) + good.slice(at + cut);
    });
    const known = fc.constantFrom(
      "name",
      "offerings",
      "resources",
      "Price",
      "Requirements",
      "key",
      "values",
      "operator",
    );
    const shaped = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 6 },
        fc.jsonValue({ maxDepth: 1 }),
        fc.array(tie("node")),
        fc.dictionary(known, tie("node")),
      ),
    })).node;
    fc.assert(
      fc.property(
        fc.oneof(
          spoilt,
          shaped.map((value) => JSON.stringify(value)),
          fc.json(),
        ),
        (text) => {
          const result = parseKwokFile(text);
          if ("problems" in result) expect(result.problems.length).toBeGreaterThan(0);
          else expect(result.types.every(({ name }) => name !== "")).toBe(true);
        },
      ),
      { numRuns: runs(10_000) },
    );
  });
});
