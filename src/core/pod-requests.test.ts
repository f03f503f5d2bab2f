import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/runs.ts";
import type { Container, Pod, PodSpec, PodStatus, ResourceList } from "../api/kubernetes/pod.ts";
import { Quantity, QuantityError } from "../util/quantity.ts";
import { podLimits, podRequests, QuantityReader, withLimitsAsRequests } from "./pod-requests.ts";
import { amountOf, type Resources } from "./resources.ts";

const pod = (spec: PodSpec, status?: PodStatus): Pod => ({ metadata: { name: "p" }, spec, status });
const container = (requests: ResourceList, more: Partial<Container> = {}): Container => ({
  resources: { requests },
  ...more,
});
const sidecar = (requests: ResourceList, more: Partial<Container> = {}): Container =>
  container(requests, { restartPolicy: "Always", ...more });
const texts = (list: Resources): Record<string, string> =>
  Object.fromEntries(Object.entries(list).map(([name, quantity]) => [name, quantity.toString()]));

describe("podRequests", () => {
  const cases: readonly { title: string; spec: PodSpec; expected: Record<string, string> }[] = [
    { title: "02:A-2 a pod that asks for nothing takes its place", spec: {}, expected: { pods: "1" } },
    {
      title: "02:A-3 containers add up",
      spec: { containers: [container({ cpu: "500m", memory: "1Gi" }), container({ cpu: "1", "nvidia.com/gpu": 1 })] },
      expected: { cpu: "1500m", memory: "1Gi", "nvidia.com/gpu": "1", pods: "1" },
    },
    {
      title: "02:A-3 an init container counts only where it needs more",
      spec: {
        containers: [container({ cpu: "1", memory: "2Gi" })],
        initContainers: [container({ cpu: "2", memory: "1Gi" }), container({ cpu: "1500m" })],
      },
      expected: { cpu: "2", memory: "2Gi", pods: "1" },
    },
    {
      title: "02:A-3 a sidecar counts for the init containers after it",
      spec: { containers: [container({ cpu: "1" })], initContainers: [sidecar({ cpu: "2" }), container({ cpu: "5" })] },
      expected: { cpu: "7", pods: "1" },
    },
    {
      title: "02:A-3 a sidecar does not count for the init containers before it",
      spec: { containers: [container({ cpu: "1" })], initContainers: [container({ cpu: "5" }), sidecar({ cpu: "2" })] },
      expected: { cpu: "5", pods: "1" },
    },
    {
      title: "02:A-3 sidecars run beside the containers",
      spec: { containers: [container({ cpu: "3" })], initContainers: [container({ cpu: "1" }), sidecar({ cpu: "2" })] },
      expected: { cpu: "5", pods: "1" },
    },
    {
      title: "02:A-4 pod-level amounts replace cpu, memory and huge pages, and nothing else",
      spec: {
        containers: [container({ cpu: "4", memory: "1Gi", "hugepages-2Mi": "4Mi", "ephemeral-storage": "1Gi" })],
        resources: { requests: { cpu: "2", "hugepages-2Mi": "8Mi", "ephemeral-storage": "9Gi", "example.com/x": "1" } },
      },
      expected: { cpu: "2", memory: "1Gi", "hugepages-2Mi": "8Mi", "ephemeral-storage": "1Gi", pods: "1" },
    },
    {
      title: "02:A-5 overhead comes on top of everything, pod-level amounts too",
      spec: {
        containers: [container({ cpu: "4" })],
        resources: { requests: { cpu: "2" } },
        overhead: { cpu: "250m", memory: "120Mi" },
      },
      expected: { cpu: "2250m", memory: "120Mi", pods: "1" },
    },
    {
      title: "02:A-2 a pod takes one place whatever it writes",
      spec: { containers: [container({ pods: "7" })] },
      expected: { pods: "1" },
    },
    {
      title: "02:A-7 limits are no requests",
      spec: { containers: [{ resources: { limits: { cpu: "4" } } }] },
      expected: { pods: "1" },
    },
    {
      title: "02:A-1 amounts print in canonical form, zeros stay",
      spec: { containers: [container({ memory: "1.5Gi", "example.com/zero": "0", cpu: 0.5 })] },
      expected: { memory: "1536Mi", "example.com/zero": "0", cpu: "500m", pods: "1" },
    },
  ];
  it.each(cases)("$title", ({ spec, expected }) => expect(texts(podRequests(pod(spec)))).toEqual(expected));

  describe("02:A-6 while a container is resized", () => {
    const spec: PodSpec = {
      containers: [container({ cpu: "2", memory: "1Gi" }, { name: "app" })],
      initContainers: [container({ cpu: "1" }, { name: "init" }), sidecar({ cpu: "1" }, { name: "side" })],
    };
    const app = {
      name: "app",
      resources: { requests: { cpu: "3" } },
      allocatedResources: { cpu: "1", memory: "2Gi" },
    };
    const infeasible = [{ type: "PodResizePending", status: "True", reason: "Infeasible" }];
    const resized: readonly { title: string; status: PodStatus; expected: Record<string, string> }[] = [
      {
        title: "takes the most of spec, actual and allocated",
        status: { containerStatuses: [app] },
        expected: { cpu: "4", memory: "2Gi", pods: "1" },
      },
      {
        title: "takes sidecars the same way, and init containers as written",
        status: {
          initContainerStatuses: [
            { name: "side", resources: { requests: { cpu: "6" } } },
            { name: "init", resources: { requests: { cpu: "99" } } },
          ],
        },
        expected: { cpu: "8", memory: "1Gi", pods: "1" },
      },
      {
        title: "forgets the spec when the resize is infeasible",
        status: {
          containerStatuses: [{ ...app, resources: { requests: { cpu: "500m" } } }],
          conditions: infeasible,
        },
        expected: { cpu: "2", memory: "2Gi", pods: "1" },
      },
      {
        title: "keeps to the spec when the status says nothing of resources",
        status: { containerStatuses: [{ name: "app", allocatedResources: { cpu: "9" } }], conditions: infeasible },
        expected: { cpu: "3", memory: "1Gi", pods: "1" },
      },
      {
        title: "a resize that is only deferred still counts the spec",
        status: {
          containerStatuses: [{ name: "app", resources: { requests: { cpu: "1" } } }],
          conditions: [{ type: "PodResizePending", status: "True", reason: "Deferred" }],
        },
        expected: { cpu: "3", memory: "1Gi", pods: "1" },
      },
    ];
    it.each(resized)("$title", ({ status, expected }) =>
      expect(texts(podRequests(pod(spec, status)))).toEqual(expected),
    );
  });

  it("02:A-3 agrees with adding up every moment of a pod's life", () => {
    const names = ["cpu", "memory", "example.com/a"];
    const list = fc.dictionary(fc.constantFrom(...names), fc.constantFrom("0", "1m", "250m", "1", "1.5Gi", "3k"));
    const inits = fc.array(fc.tuple(list, fc.boolean()), { maxLength: 4 });
    fc.assert(
      fc.property(fc.array(list, { maxLength: 3 }), inits, list, (apps, starting, overhead) => {
        const found = podRequests(
          pod({
            containers: apps.map((requests) => container(requests)),
            initContainers: starting.map(([requests, stays]) => (stays ? sidecar(requests) : container(requests))),
            overhead,
          }),
        );
        // Each moment is the list of what runs then; the pod needs the most of any moment, for every resource.
        const moments = starting.map(([requests], at) => [
          requests,
          ...starting.slice(0, at).flatMap(([earlier, stays]) => (stays ? [earlier] : [])),
        ]);
        moments.push([...apps, ...starting.flatMap(([requests, stays]) => (stays ? [requests] : []))]);
        for (const name of names) {
          const nano = (one: ResourceList) => Quantity.parse(String(one[name] ?? 0)).nano;
          const needed = moments.map((running) => running.reduce((sum, one) => sum + nano(one), 0n));
          const most = (found[name]?.nano ?? 0n) - nano(overhead);
          expect(needed.includes(most) && needed.every((one) => one <= most)).toBe(true);
          const isMentioned = [...apps, ...starting.map(([one]) => one), overhead].some((one) => name in one);
          expect(name in found).toBe(isMentioned);
        }
      }),
      { numRuns: runs(20_000) },
    );
  });

  it("02:A-13 reads each distinct text once", () => {
    const reader = new QuantityReader();
    const asked = pod({ containers: [container({ cpu: "250m" })] });
    const { cpu } = podRequests(asked, reader);
    expect(amountOf(podRequests(structuredClone(asked), reader), "cpu")).toBe(cpu);
  });

  it("refuses a text that is no quantity, by name", () => {
    expect(() => podRequests(pod({ containers: [container({ cpu: "lots" })] }))).toThrow(QuantityError);
  });
});

describe("podLimits", () => {
  it("02:A-4 aggregates like requests, pod-level limits first, overhead only where there is a limit", () => {
    const spec: PodSpec = {
      containers: [{ resources: { limits: { cpu: "1", memory: "1Gi", "example.com/x": "0" } } }],
      initContainers: [{ resources: { limits: { cpu: "3" } } }],
      resources: { limits: { memory: "4Gi", "ephemeral-storage": "1Gi" } },
      overhead: { cpu: "100m", "example.com/x": "1", "example.com/y": "1" },
    };
    expect(texts(podLimits(pod(spec)))).toEqual({ cpu: "3100m", memory: "4Gi", "example.com/x": "0", pods: "1" });
  });
});

describe("withLimitsAsRequests", () => {
  const template: PodSpec = {
    containers: [{ resources: { limits: { cpu: "2", memory: "1Gi" }, requests: { cpu: "1" } } }],
    initContainers: [{ resources: { limits: { memory: "3Gi" } } }],
    resources: { limits: { cpu: "9" } },
  };

  it("02:A-7 a template's limits stand in for missing requests of containers and init containers", () => {
    expect(texts(podRequests(pod(withLimitsAsRequests(template))))).toEqual({ cpu: "1", memory: "3Gi", pods: "1" });
  });

  it("02:A-7 leaves the template alone", () => {
    const before = structuredClone(template);
    withLimitsAsRequests(template);
    expect(template).toEqual(before);
    expect(withLimitsAsRequests({ nodeName: "n" })).toEqual({ nodeName: "n" });
  });
});
