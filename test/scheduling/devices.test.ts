import { describe, expect, it } from "vitest";
import type { ResourceClaim, ResourceSlice } from "../../src/api/devices/device-objects.ts";
import type { Pod } from "../../src/api/kubernetes/pod.ts";
import type { Decision } from "../../src/core/scheduling/decision.ts";
import { solve } from "../../src/core/scheduling/solve.ts";
import { allocatedTo, byKey, deviceClass, inZone, resourceClaim, resourceSlice } from "../builders/devices.ts";
import { instanceType } from "../builders/instance-type.ts";
import { node } from "../builders/node.ts";
import { pod } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";

interface Devices {
  readonly slices?: readonly ResourceSlice[];
  readonly claims?: readonly ResourceClaim[];
  /** The claims of each pod, by name of the claim. */
  readonly pods: readonly (readonly string[])[];
  readonly builder?: ReturnType<typeof problem>;
  readonly isIgnored?: boolean;
}

const plain = instanceType("plain");
const gpus = instanceType("gpus").price(5).devices("gpu-0", "gpu-1");

/** What is decided for pods with claims; each gets its name from its place. */
function decided({
  slices = [],
  claims = [],
  pods,
  builder = problem().types(plain, gpus),
  isIgnored = false,
}: Devices): Decision {
  const built = builder.pods(pods.length, pod().cpu("500m")).policy({ ignoreDra: isIgnored }).build();
  const withClaims = built.pods.map((one, at): Pod => {
    const resourceClaims = (pods[at] ?? []).map((name) => ({ name, resourceClaimName: name }));
    return { ...one, metadata: { ...one.metadata, name: `pod-${at}` }, spec: { ...one.spec, resourceClaims } };
  });
  const known = [
    ...claims,
    ...pods
      .flat()
      .filter((name) => claims.every(({ metadata }) => metadata.name !== name))
      .map((name) => resourceClaim(name)),
  ];
  const devices = {
    slices,
    claims: byKey(...known),
    classes: new Map([["gpu", deviceClass()]]),
    movingPods: new Set<string>(),
  };
  return solve({ ...built, pods: withClaims, devices });
}

const planned = ({ newNodes }: Decision) =>
  newNodes.map(({ pods, instanceTypes, draDrivers }) => ({
    pods: pods.length,
    types: instanceTypes.map(({ name }) => name),
    draDrivers,
  }));
const messages = ({ refusals }: Decision) => refusals.map(({ code, message }) => [code, message]);

describe("02:D-1 requests for devices are ignored", () => {
  it("02:D-1 a pod with claims is refused, whatever devices there are", () => {
    const decision = decided({ pods: [["one"]], isIgnored: true });
    expect(messages(decision)).toEqual([
      ["dynamic-resources", "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter"],
    ]);
  });
});

describe("02 §5.14 devices of new nodes", () => {
  it("02:D-6 only types with the devices are left, and the node waits for their driver", () => {
    expect(planned(decided({ pods: [["one"]] }))).toEqual([
      { pods: 1, types: ["gpus"], draDrivers: ["gpu.example.com"] },
    ]);
  });

  it("02:D-8 a node takes as many pods as it has devices", () => {
    const nodes = planned(decided({ pods: [["one"], ["two"], ["three"]] }));
    expect(nodes.map(({ pods }) => pods).sort()).toEqual([1, 2]);
  });

  it("02:D-5 pods of one claim share a node whose own device it is", () => {
    expect(planned(decided({ pods: [["one"], ["one"], ["one"]] }))).toMatchObject([{ pods: 3 }]);
  });

  it("02:D-8 pods without claims join the node, and keep their own otherwise", () => {
    expect(planned(decided({ pods: [["one"], []] }))).toMatchObject([{ pods: 2, types: ["gpus"] }]);
    expect(planned(decided({ pods: [[]] }))).toEqual([{ pods: 1, types: ["plain", "gpus"], draDrivers: undefined }]);
  });

  it("02:D-7 no type has so many devices", () => {
    const many = resourceClaim("many", { requests: [{ name: "r", exactly: { deviceClassName: "gpu", count: 3 } }] });
    expect(messages(decided({ pods: [["many"]], claims: [many] }))).toEqual([
      ["dynamic-resources", "allocating dynamic resources, no instance type can satisfy the allocation"],
    ]);
  });

  it("02:N-3e the types with devices are too small for the pod", () => {
    const builder = problem().types(plain.cpu(64), gpus.cpu(1));
    const decision = decided({ pods: [["one"]], builder: builder.pods(0, pod()) });
    expect(planned(decision)).toMatchObject([{ types: ["gpus"] }]);
    const tiny = problem().types(plain.cpu(64), instanceType("tiny").resource("cpu", "200m").devices("gpu-0"));
    expect(messages(decided({ pods: [["one"]], builder: tiny }))).toEqual([
      ["dynamic-resources", "no instance type satisfies both scheduling and dynamic resource requirements"],
    ]);
  });

  it("02:D-6 a device of a zone pins the node there", () => {
    const slices = [resourceSlice("s", { devices: ["net-0"], ...inZone("b") })];
    const { newNodes } = decided({ pods: [["one"]], slices, builder: problem().types(plain) });
    expect(newNodes.map(({ requirements }) => requirements.get("topology.kubernetes.io/zone").singleValue)).toEqual([
      "b",
    ]);
  });

  it("02:N-3b the devices are where the pod must not be", () => {
    const slices = [resourceSlice("s", { devices: ["net-0"], ...inZone("b") })];
    const builder = problem().types(plain).pod(pod().cpu("500m").on("zone", "a"));
    const built = builder.policy({ ignoreDra: false }).build();
    const pods = built.pods.map(
      (one): Pod => ({ ...one, spec: { ...one.spec, resourceClaims: [{ name: "c", resourceClaimName: "one" }] } }),
    );
    const devices = {
      slices,
      claims: byKey(resourceClaim("one")),
      classes: new Map([["gpu", deviceClass()]]),
      movingPods: new Set<string>(),
    };
    expect(messages(solve({ ...built, pods, devices }))).toEqual([
      [
        "dynamic-resources",
        "incompatible dynamic resource requirements, key topology.kubernetes.io/zone, topology.kubernetes.io/zone In [b] not in topology.kubernetes.io/zone In [a]",
      ],
    ]);
  });
});

describe("02:D-2 claims of a pod", () => {
  it("02:D-2 one that does not exist defers the pod", () => {
    const built = problem().pod(pod()).policy({ ignoreDra: false }).build();
    const pods = built.pods.map(
      (one): Pod => ({
        ...one,
        spec: { ...one.spec, resourceClaims: [{ name: "c", resourceClaimTemplateName: "t" }] },
        status: { ...one.status, resourceClaimStatuses: [{ name: "c", resourceClaimName: "made" }] },
      }),
    );
    expect(messages(solve({ ...built, pods }))).toEqual([
      ["dynamic-resources", 'resourceclaim "default/made" not found'],
    ]);
  });

  it("02:D-2 one that was not generated needs nothing", () => {
    const built = problem().pod(pod()).policy({ ignoreDra: false }).build();
    const claimed = (status: Pod["status"]) =>
      built.pods.map(
        (one): Pod => ({
          ...one,
          spec: { ...one.spec, resourceClaims: [{ name: "c", resourceClaimTemplateName: "t" }] },
          status,
        }),
      );
    expect(solve({ ...built, pods: claimed({}) }).refusals).toEqual([]);
    expect(solve({ ...built, pods: claimed({ resourceClaimStatuses: [{ name: "c" }] }) }).refusals).toEqual([]);
  });
});

describe("02 §5.14 devices of existing nodes", () => {
  const own = (name: string) =>
    resourceSlice(`of-${name}`, { pool: name, nodeName: name, ownerNode: name, devices: ["gpu-0"] });
  const at = (builder: ReturnType<typeof node>) => problem().types(plain).nodes(builder);

  it("02:D-3 a published device of the node is used once", () => {
    const decision = decided({ slices: [own("n1")], pods: [["one"], ["two"]], builder: at(node("n1")) });
    expect(decision.placements.map(({ node: name, pods }) => [name, pods.length])).toEqual([["n1", 1]]);
    expect(decision.refusals.map(({ code }) => code)).toEqual(["dynamic-resources"]);
  });

  it("02:D-11 a device in use is not free", () => {
    const held = resourceClaim("held", { status: allocatedTo(["live"], ["gpu-0"], "n1") });
    const decision = decided({ slices: [own("n1")], claims: [held], pods: [["one"]], builder: at(node("n1")) });
    expect(decision.placements).toEqual([]);
  });

  it("02:D-3 slices of a node that is not there do not count", () => {
    expect(decided({ slices: [own("gone")], pods: [["one"]], builder: at(node("n1")) }).placements).toEqual([]);
  });
});
