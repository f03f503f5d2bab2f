import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import { formatPath, type Problem } from "../problem.ts";
import { amiFamilyKubeletProblems, kubeletProblems, unmanagedKubeletFields } from "./kubelet.ts";
import type { KubeletConfiguration } from "./kubelet-decode.ts";
import { type KubeletFields, type KubeletFieldType, kubeletFields, managedKubeletFields } from "./kubelet-fields.ts";
import { managedKubelet } from "./kubelet-managed.ts";

const where = (block: KubeletConfiguration | undefined) =>
  kubeletProblems(block).map(({ path }) => formatPath(path.slice(2)));
const soft = (thresholds: object, graces: object) => ({ evictionSoft: thresholds, evictionSoftGracePeriod: graces });

describe("kubelet configuration", () => {
  it("01 §1.6.4 knows the 125 fields besides kind and apiVersion", () => {
    expect(Object.keys(kubeletFields)).toHaveLength(127);
    for (const field of managedKubeletFields) expect(kubeletFields).toHaveProperty(field);
  });

  it.each<[string, KubeletConfiguration | undefined]>([
    ["nothing", undefined],
    ["an empty block", {}],
    [
      "what scheduling reads",
      {
        maxPods: 110,
        podsPerCore: 10,
        kubeReserved: { cpu: "200m", memory: "100Mi" },
        systemReserved: { "ephemeral-storage": "1Gi", pid: "1000" },
        evictionHard: { "memory.available": "5%" },
      },
    ],
    ["a field only the kubelet knows", { serializeImagePulls: false }],
    [
      "nested fields",
      {
        logging: {
          format: "json",
          flushFrequency: "5s",
          options: { json: { infoBufferSize: "100Mi", splitStream: true } },
        },
      },
    ],
    ["a threshold as a quantity", { evictionHard: { "nodefs.available": "500Mi" } }],
    ["soft thresholds with their grace periods", soft({ "memory.available": "10%" }, { "memory.available": "1m" })],
    ["garbage collection thresholds in order", { imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 60 }],
    ["zeroes", { maxPods: 0, podsPerCore: 0, evictionMaxPodGracePeriod: 0 }],
    ["an expression for maxPods", { maxPods: "vcpus * 10" }],
    ["an expression in kubeReserved", { kubeReserved: { memory: "memory_mib / 10" } }],
    ["an expression in systemReserved", { systemReserved: { cpu: "vcpus * 10" } }],
    ["an expression beside plain fields", { maxPods: "vcpus * 10", podsPerCore: 10 }],
    ["nulls, which are the same as nothing", { maxPods: null, evictionHard: null, logging: { options: null } }],
    ["its own kind", { kind: "KubeletConfiguration", apiVersion: "kubelet.config.k8s.io/v1beta1" }],
    ["percentages at both ends", { evictionHard: { "memory.available": "0%", "pid.available": "100%" } }],
    [
      "nanoseconds in logging",
      { logging: { flushFrequency: 5_000_000_000, verbosity: 3, vmodule: [{ filePattern: "a*", verbosity: 9 }] } },
    ],
    ["reserved memory", { reservedMemory: [{ numaNode: 0, limits: { memory: "1Gi", "hugepages-2Mi": 4 } }] }],
    [
      "header lists and gates",
      { staticPodURLHeader: { a: ["b"] }, featureGates: { X: true }, tlsCurvePreferences: [29] },
    ],
    ["fractions where they belong", { memoryThrottlingFactor: 0.9 }],
  ])("01 §1.6.4 accepts %s", (_what, block) => {
    expect(kubeletProblems(block)).toEqual([]);
  });

  it.each<[string, KubeletConfiguration, readonly string[]]>([
    ["a field nobody knows", { notAKubeletField: true }, ["notAKubeletField"]],
    ["an unknown nested field", { logging: { bogus: true } }, ["logging.bogus"]],
    [
      "an unknown field three levels deep",
      { logging: { options: { json: { nope: "x" } } } },
      ["logging.options.json.nope"],
    ],
    ["an unknown field in a list", { reservedMemory: [{ numaNode: 0, limit: {} }] }, ["reservedMemory[0].limit"]],
    ["an inherited name", { constructor: {} }, ["constructor"]],
    ["a wrong type", { podsPerCore: "ten" }, ["podsPerCore"]],
    ["a wrong nested type", { logging: { format: 12345 } }, ["logging.format"]],
    ["junk", { a: { b: [1, "two", true] } }, ["a"]],
    ["a fraction for a count", { podsPerCore: 1.5 }, ["podsPerCore"]],
    ["a number too large", { registryBurst: 2147483648 }, ["registryBurst"]],
    ["a negative verbosity", { logging: { verbosity: -1 } }, ["logging.verbosity"]],
    ["a duration that is none", { syncFrequency: "soon" }, ["syncFrequency"]],
    ["a number for a duration", { syncFrequency: 5 }, ["syncFrequency"]],
    [
      "a time that is none",
      { registerWithTaints: [{ key: "a", timeAdded: "now" }] },
      ["registerWithTaints[0].timeAdded", "registerWithTaints"],
    ],
    [
      "a quantity that is none",
      { reservedMemory: [{ limits: { memory: "lots" } }] },
      ["reservedMemory[0].limits.memory"],
    ],
    ["maxPods true", { maxPods: true }, ["maxPods"]],
    ["negative maxPods", { maxPods: -1 }, ["maxPods"]],
    ["negative podsPerCore", { podsPerCore: -1 }, ["podsPerCore"]],
    ["negative evictionMaxPodGracePeriod", { evictionMaxPodGracePeriod: -1 }, ["evictionMaxPodGracePeriod"]],
    ["a high threshold above 100", { imageGCHighThresholdPercent: 101 }, ["imageGCHighThresholdPercent"]],
    ["a high threshold below 0", { imageGCHighThresholdPercent: -1 }, ["imageGCHighThresholdPercent"]],
    ["a low threshold above 100", { imageGCLowThresholdPercent: 101 }, ["imageGCLowThresholdPercent"]],
    ["a low threshold below 0", { imageGCLowThresholdPercent: -1 }, ["imageGCLowThresholdPercent"]],
    ["an odd resource in kubeReserved", { kubeReserved: { gpu: "1" } }, ["kubeReserved.gpu"]],
    ["an odd resource in systemReserved", { systemReserved: { gpu: "1" } }, ["systemReserved.gpu"]],
    ["a negative kubeReserved", { kubeReserved: { cpu: "-1" } }, ["kubeReserved.cpu"]],
    ["a negative systemReserved", { systemReserved: { cpu: "-1" } }, ["systemReserved.cpu"]],
    ["an odd signal in evictionHard", { evictionHard: { notASignal: "5%" } }, ["evictionHard.notASignal"]],
    [
      "an odd signal in evictionMinimumReclaim",
      { evictionMinimumReclaim: { notASignal: "1Mi" } },
      ["evictionMinimumReclaim.notASignal"],
    ],
    ["odd signals in the soft maps", soft({ x: "5%" }, { x: "1m" }), ["evictionSoft.x", "evictionSoftGracePeriod.x"]],
    [
      "a hard threshold that is neither",
      { evictionHard: { "memory.available": "lots" } },
      ["evictionHard[memory.available]"],
    ],
    [
      "a reclaim that is neither",
      { evictionMinimumReclaim: { "memory.available": "lots" } },
      ["evictionMinimumReclaim[memory.available]"],
    ],
    [
      "a soft threshold that is neither",
      soft({ "pid.available": "lots" }, { "pid.available": "1m" }),
      ["evictionSoft[pid.available]"],
    ],
    ["a negative threshold", { evictionHard: { "memory.available": "-1Mi" } }, ["evictionHard[memory.available]"]],
    ["a percentage above 100", { evictionHard: { "memory.available": "101%" } }, ["evictionHard[memory.available]"]],
    ["a negative percentage", { evictionHard: { "memory.available": "-1%" } }, ["evictionHard[memory.available]"]],
    ["a bare percent sign", { evictionHard: { "memory.available": "%" } }, ["evictionHard[memory.available]"]],
    [
      "a grace period that is none",
      soft({ "pid.available": "1%" }, { "pid.available": "90" }),
      ["evictionSoftGracePeriod[pid.available]"],
    ],
    [
      "a negative grace period",
      soft({ "pid.available": "1%" }, { "pid.available": "-1m" }),
      ["evictionSoftGracePeriod[pid.available]"],
    ],
    [
      "soft maps about different signals",
      soft({ "memory.available": "10%" }, { "nodefs.available": "1m" }),
      ["evictionSoft[memory.available]", "evictionSoftGracePeriod[nodefs.available]"],
    ],
    ["a soft threshold alone", { evictionSoft: { "memory.available": "10%" } }, ["evictionSoft[memory.available]"]],
    [
      "a grace period alone",
      { evictionSoftGracePeriod: { "memory.available": "1m" } },
      ["evictionSoftGracePeriod[memory.available]"],
    ],
    [
      "thresholds out of order",
      { imageGCHighThresholdPercent: 60, imageGCLowThresholdPercent: 80 },
      ["imageGCHighThresholdPercent"],
    ],
    [
      "equal thresholds",
      { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 70 },
      ["imageGCHighThresholdPercent"],
    ],
    ["registerWithTaints", { registerWithTaints: [] }, ["registerWithTaints"]],
  ])("01 §1.6.4 refuses %s", (_what, block, paths) => {
    expect(where(block)).toEqual(paths);
  });

  it.each(managedKubeletFields)("01 §1.6.4 refuses %s of the wrong type", (field) => {
    const wrong = field === "maxPods" ? true : field === "cpuCFSQuota" ? "yes" : "text";
    expect(kubeletProblems({ [field]: wrong })).toMatchObject([{ code: "type", path: ["spec", "kubelet", field] }]);
  });

  it("01 §1.6.4 a type error is reported alone among shapes, unknown fields all together", () => {
    expect(where({ a: 1, b: 2, logging: { c: 3 } })).toEqual(["a", "b", "logging.c"]);
    expect(where({ a: 1, syncFrequency: 5, port: "x" })).toEqual(["syncFrequency"]);
    expect(where({ syncFrequency: 5, podsPerCore: -1 })).toEqual(["syncFrequency", "podsPerCore"]);
  });

  it("01 §1.6.4 an expression in maxPods does not hide other problems", () => {
    expect(where({ maxPods: "vcpus", nope: 1 })).toEqual(["nope"]);
  });

  it("01 §1.6.4 every violation is reported", () => {
    expect(
      where({ podsPerCore: -1, kubeReserved: { gpu: "1", cpu: "-1" }, evictionHard: { notASignal: "5%" } }),
    ).toEqual(["evictionHard.notASignal", "kubeReserved.gpu", "kubeReserved.cpu", "podsPerCore"]);
  });

  it("01 §1.6.4 null in a map is an empty string, as the kubelet reads it, and hides no other problem", () => {
    expect(where({ evictionHard: { "memory.available": null } })).toEqual(["evictionHard[memory.available]"]);
    expect(where({ kubeReserved: { cpu: "-1", memory: null } })).toEqual(["kubeReserved.cpu"]);
    expect(managedKubelet({ kubeReserved: { memory: null }, clusterDNS: [null] })).toEqual({
      kind: "ok",
      kubelet: { kubeReserved: { memory: "" }, clusterDNS: [""] },
    });
  });

  it("01 §1.6.4 names the field, and the one that was meant", () => {
    expect(kubeletProblems({ notAKubeletField: true })[0]?.message).toContain("notAKubeletField");
    expect(kubeletProblems({ maxpods: 1 })[0]?.message).toContain("did you mean maxPods");
  });

  it("01 §1.6.4 every field accepts its own type and refuses another", () => {
    for (const [name, type] of leaves(kubeletFields)) {
      const [good, bad] = samples[type];
      expect([
        name,
        kubeletProblems(nested(name, good)).filter(({ code }) => code === "type" || code === "unknown-field"),
      ]).toEqual([name, []]);
      if (name !== "maxPods") expect([name, kubeletProblems(nested(name, bad))[0]?.code]).toEqual([name, "type"]);
    }
  });
});

type Scalar = Extract<KubeletFieldType, string>;
const samples: Readonly<Record<Scalar, readonly [unknown, unknown]>> = {
  string: ["x", 1],
  bool: [true, "true"],
  int32: [1, 2 ** 31],
  int64: [2 ** 40, 1.5],
  uint32: [2 ** 32 - 1, -1],
  float: [0.5, "0.5"],
  duration: ["1m30s", null],
  "nullable-duration": ["1m30s", 90],
  "duration-or-nanos": [90, "ninety"],
  quantity: ["1Gi", true],
  time: ["2026-01-31T00:00:00Z", "2026-01-31"],
};

/** `a.b`, `a[].b`, `a{}`: where each scalar of the table stands. */
function leaves(fields: KubeletFields, prefix = ""): readonly (readonly [string, Scalar])[] {
  return Object.entries(fields).flatMap(([name, type]) => leavesOf(type, `${prefix}${name}`));
}

function leavesOf(type: KubeletFieldType, name: string): readonly (readonly [string, Scalar])[] {
  if (typeof type === "string") return [[name, type]];
  if ("list" in type) return leavesOf(type.list, `${name}[]`);
  return "map" in type ? leavesOf(type.map, `${name}{}`) : leaves(type.fields, `${name}.`);
}

function nested(name: string, value: unknown): KubeletConfiguration {
  const steps = name.split(/\.|(?=\[\])|(?=\{\})/);
  const built = steps.reduceRight<unknown>(
    (inner, step) => (step === "[]" ? [inner] : { [step === "{}" ? "key" : step]: inner }),
    value,
  );
  return built as KubeletConfiguration;
}

describe("image family support", () => {
  const block = { registryPullQPS: 5, podsPerCore: 10, maxPods: 5 };
  it.each([
    ["AL2023", []],
    ["Custom", []],
    ["AL2", ["registryPullQPS"]],
    ["Bottlerocket", ["registryPullQPS", "podsPerCore"]],
    ["Windows2022", ["registryPullQPS"]],
  ])("01 §1.6.4 %s refuses %j", (family, fields) => {
    expect(amiFamilyKubeletProblems(block, family).map(({ path }) => path[2])).toEqual(fields);
  });

  it.each(["AL2", "Bottlerocket", "Windows2019"])("01 §1.6.4 %s takes one clusterDNS", (family) => {
    expect(amiFamilyKubeletProblems({ clusterDNS: ["a"] }, family)).toEqual([]);
    expect(amiFamilyKubeletProblems({ clusterDNS: ["a", "b"] }, family)).toHaveLength(1);
    expect(amiFamilyKubeletProblems({ clusterDNS: ["a", "b"] }, "AL2023")).toEqual([]);
    expect(amiFamilyKubeletProblems(undefined, family)).toEqual([]);
  });

  it("01 §1.6.4 the twelve managed fields are fine everywhere", () => {
    const managed = Object.fromEntries(managedKubeletFields.map((field) => [field, 1]));
    expect(managedKubeletFields).toHaveLength(12);
    expect(amiFamilyKubeletProblems(managed, "AL2")).toEqual([]);
    expect(unmanagedKubeletFields(managed)).toEqual([]);
    expect(unmanagedKubeletFields({ port: 1, ...managed, address: "x" })).toEqual(["address", "port"]);
  });
});

describe("managed fields", () => {
  const all = {
    clusterDNS: ["10.0.0.10"],
    maxPods: 110,
    podsPerCore: 10,
    systemReserved: { cpu: "100m" },
    kubeReserved: { memory: "256Mi" },
    evictionHard: { "memory.available": "5%" },
    evictionSoft: { "memory.available": "10%" },
    evictionSoftGracePeriod: { "memory.available": "1m" },
    evictionMaxPodGracePeriod: 30,
    imageGCHighThresholdPercent: 80,
    imageGCLowThresholdPercent: 60,
    cpuCFSQuota: false,
  };

  it("01 §8.3 takes out every managed field", () => {
    expect(managedKubelet(all)).toEqual({ kind: "ok", kubelet: all });
  });

  it.each([
    [undefined],
    [{}],
    [{ serializeImagePulls: false, topologyManagerPolicy: "best-effort" }],
    [{ maxPods: null }],
  ])("01 §8.3 nothing of its own in %j", (block) => {
    expect(managedKubelet(block)).toEqual({ kind: "ok", kubelet: {} });
  });

  it("01 §8.3 keeps an expression as text", () => {
    expect(managedKubelet({ maxPods: "vcpus * 10" })).toEqual({ kind: "ok", kubelet: { maxPods: "vcpus * 10" } });
  });

  it("01 §8.3 gives nothing if one field is unreadable", () => {
    expect(managedKubelet({ ...all, podsPerCore: "ten" })).toMatchObject({
      kind: "error",
      problem: { path: ["spec", "kubelet", "podsPerCore"] },
    });
    expect(managedKubelet({ ...all, evictionSoftGracePeriod: { "memory.available": "soon" } })).toMatchObject({
      kind: "error",
    });
    expect(managedKubelet({ ...all, port: "not ours" }).kind).toBe("ok");
  });

  it("01 §9.16 hands out a copy: the block itself is never touched", () => {
    const block = { kubeReserved: { cpu: "100m" } };
    const reading = managedKubelet(block);
    expect(reading).toEqual({ kind: "ok", kubelet: block });
    expect(reading.kind === "ok" && reading.kubelet.kubeReserved).not.toBe(block.kubeReserved);
  });
});

describe("validation and reading", () => {
  const text = fc.constantFrom("5%", "101%", "-1", "500Mi", "1m30s", "soon", "vcpus * 10", "");
  const odd = fc.constantFrom(null, true, 1.5, 2 ** 31, -1, 0, 7, 90, "ten", [], ["10.0.0.10"], [null], [1], {});
  const key = fc.constantFrom("memory.available", "nodefs.available", "cpu", "memory", "pid", "gpu");
  const map = fc.dictionary(key, fc.oneof({ weight: 6, arbitrary: text }, fc.constant(null), odd), { maxKeys: 3 });
  const block = fc.dictionary(fc.constantFrom(...managedKubeletFields), fc.oneof({ weight: 3, arbitrary: map }, odd), {
    maxKeys: 4,
  });

  it("04 §9.1 what validation accepts can be read, every field in its type", () => {
    const accepted = { count: 0 };
    fc.assert(
      fc.property(block, (drawn) => {
        if (kubeletProblems(drawn).length > 0) return;
        accepted.count++;
        const reading = managedKubelet(drawn);
        if (reading.kind === "error") throw new Error(JSON.stringify(reading.problem));
        for (const [field, value] of Object.entries(reading.kubelet)) {
          expect(fieldTypes[field], `${field}: ${JSON.stringify(value)}`).toContain(typeNameOf(value));
        }
      }),
      { numRuns: runs(100_000) },
    );
    expect(accepted.count).toBeGreaterThan(10);
  });

  it("04 §9.1 what can be read has the right shape for validation, and what cannot is refused", () => {
    const read = { count: 0 };
    fc.assert(
      fc.property(block, (drawn) => {
        const problems = kubeletProblems(drawn);
        const reading = managedKubelet(drawn);
        if (reading.kind === "ok") {
          read.count++;
          expect(problems.filter(({ code }) => code !== "kubelet")).toEqual([]);
        } else {
          const isShape = ({ code, path }: Problem) => code === "type" || path.includes("evictionSoftGracePeriod");
          expect(problems.filter(isShape)).not.toEqual([]);
        }
      }),
      { numRuns: runs(100_000) },
    );
    expect(read.count).toBeGreaterThan(10);
  });
});

const stringMap = ["{}", "{string}"];
const fieldTypes: Readonly<Record<string, readonly string[]>> = {
  clusterDNS: ["[]", "[string]"],
  maxPods: ["integer", "string"],
  podsPerCore: ["integer"],
  systemReserved: stringMap,
  kubeReserved: stringMap,
  evictionHard: stringMap,
  evictionSoft: stringMap,
  evictionSoftGracePeriod: stringMap,
  evictionMaxPodGracePeriod: ["integer"],
  imageGCHighThresholdPercent: ["integer"],
  imageGCLowThresholdPercent: ["integer"],
  cpuCFSQuota: ["boolean"],
};

/** `integer`, `[string]`, `{string}`; the types of all items, where they differ. */
function typeNameOf(value: unknown): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(typeNameOf))].join()}]`;
  if (value !== null && typeof value === "object")
    return `{${[...new Set(Object.values(value).map(typeNameOf))].join()}}`;
  return Number.isInteger(value) ? "integer" : value === null ? "null" : typeof value;
}
