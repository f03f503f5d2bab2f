import { describe, expect, it } from "vitest";
import type { ResourceClaim, ResourceSlice } from "../../src/api/devices/device-objects.ts";
import type { DisruptionSnapshot } from "../../src/core/disruption/snapshot.ts";
import { allocatedTo, byKey, deviceClass, exactly, resourceClaim, resourceSlice } from "../builders/devices.ts";
import { instanceType } from "../builders/instance-type.ts";
import { type AskOptions, ask, cluster, codesOf, commandTexts, machine, type PodFacts, pool } from "./cluster.ts";

const single = "single-node-consolidation";
const multi = "multi-node-consolidation";

const claimed = (claim: string, facts: PodFacts = {}): PodFacts => ({
  ...facts,
  spec: { resourceClaims: [{ name: "gpu", resourceClaimName: claim }] },
});

describe("03:D-39 requests for devices are ignored", () => {
  const found = (method: Parameters<typeof ask>[1], pods: readonly PodFacts[], conditions: readonly string[] = []) =>
    ask(cluster([pool(), machine("n1", { pods, conditions }), machine("n2", { pods: [{}, {}] })]), method);

  it("03:D-39 a node without resource claims goes", () => {
    expect(commandTexts(found(single, [{}]))).toEqual(["delete n1"]);
  });

  it.each<[string, PodFacts]>([
    ["a claim of its own", claimed("gpu")],
    [
      "a claim from a template",
      {
        spec: { resourceClaims: [{ name: "gpu", resourceClaimTemplateName: "gpu" }] },
        status: { phase: "Running", resourceClaimStatuses: [{ name: "gpu", resourceClaimName: "web-gpu-x" }] },
      },
    ],
  ])("03:D-39 a node with %s keeps it: nothing is consolidated or replaced", (_, pod) => {
    expect(codesOf(found(single, [pod]))).toMatchObject({ n1: "pods-unschedulable" });
    expect(codesOf(found("drift", [pod], ["Drifted"]))).toMatchObject({ n1: "pods-unschedulable" });
    for (const { candidates } of found(multi, [pod]).commands)
      expect(candidates.map(({ name }) => name)).not.toContain("n1");
  });

  it("03:D-39 one that has ended holds nothing; other nodes may still move pods to a node with devices", () => {
    const ended = { ...claimed("gpu"), status: { phase: "Succeeded" } };
    expect(commandTexts(found(single, [{}, ended]))).toEqual(["delete n1"]);
    const nodes = [machine("n1", { pods: [{}] }), machine("n2", { pods: [claimed("gpu"), {}] })];
    expect(commandTexts(ask(cluster([pool(), ...nodes]), single))).toEqual(["delete n1"]);
  });
});

describe.each<NonNullable<AskOptions["sweep"]>>(["all", "several"])(
  "03:D-39 devices are planned, search %s",
  (sweep) => {
    const types = [
      instanceType("cpu-8").cpu(8).memory("32Gi").price(2),
      instanceType("small").cpu(4).memory("16Gi").price(1).devices("gpu-0", "gpu-1"),
    ];
    /** What a node has published. */
    const own = (name: string, ...devices: readonly string[]) =>
      resourceSlice(`of-${name}`, {
        pool: name,
        nodeName: name,
        ownerNode: name,
        devices: devices.length > 0 ? devices : ["gpu-0"],
      });
    /** The claim of the first pod of a node. */
    const held = (name: string, uid: string, device = "gpu-0") =>
      resourceClaim(name, { status: allocatedTo([uid], [device], name) });

    function planned(
      nodes: readonly ReturnType<typeof machine>[],
      {
        slices,
        claims,
        offered = types,
      }: {
        slices: readonly ResourceSlice[];
        claims: (uidOf: (pod: string) => string) => readonly ResourceClaim[];
        offered?: typeof types;
      },
    ): DisruptionSnapshot {
      const snapshot = cluster([pool(), ...nodes], { types: offered });
      const uidOf = (name: string): string => {
        const uid = snapshot.cluster.boundPods.find(({ metadata }) => metadata.name === name)?.metadata.uid;
        if (uid === undefined) throw new Error(`there is no pod ${name}`);
        return uid;
      };
      const devices = { slices, claims: byKey(...claims(uidOf)), classes: new Map([["gpu", deviceClass()]]) };
      return { ...snapshot, devices, policy: { ...snapshot.policy, ignoreDra: false } };
    }

    it("03:D-39 a pod's device is had anew on a cheaper replacement", () => {
      const snapshot = planned([machine("n1", { pods: [claimed("n1")] })], {
        slices: [own("n1")],
        claims: (uidOf) => [held("n1", uidOf("n1-0"))],
      });
      expect(commandTexts(ask(snapshot, single, { sweep }))).toEqual(["replace n1 -> small"]);
    });

    it("03:D-39 the device of the node that goes is not used again", () => {
      const snapshot = planned([machine("n1", { pods: [claimed("n1")] })], {
        slices: [own("n1")],
        claims: (uidOf) => [held("n1", uidOf("n1-0"))],
        offered: [types[0] as (typeof types)[0], instanceType("small").cpu(4).memory("16Gi").price(1)],
      });
      expect(codesOf(ask(snapshot, single, { sweep }))).toMatchObject({ n1: "pods-unschedulable" });
    });

    it("03:D-39 a claim nothing else can satisfy keeps the node", () => {
      const three = (uid: string) =>
        resourceClaim("n1", {
          requests: [exactly("request", { count: 3 })],
          status: allocatedTo([uid], ["gpu-0", "gpu-1", "gpu-2"], "n1"),
        });
      const snapshot = planned([machine("n1", { pods: [claimed("n1")] })], {
        slices: [own("n1", "gpu-0", "gpu-1", "gpu-2")],
        claims: (uidOf) => [three(uidOf("n1-0"))],
      });
      expect(codesOf(ask(snapshot, single, { sweep }))).toMatchObject({ n1: "pods-unschedulable" });
    });

    it("03:D-39 the device of a live pod elsewhere stays its own", () => {
      const plainOnly = [types[0] as (typeof types)[0]];
      const on = (taken: boolean) =>
        planned(
          [machine("n1", { pods: [claimed("n1")] }), machine("n2", { pods: [claimed("n2"), {}, {}, {}, {}, {}] })],
          {
            slices: [own("n1"), own("n2", "gpu-0", "gpu-1")],
            claims: (uidOf) => [
              held("n1", uidOf("n1-0")),
              held("n2", uidOf("n2-0")),
              ...(taken ? [resourceClaim("other", { status: allocatedTo([uidOf("n2-1")], ["gpu-1"], "n2") })] : []),
            ],
            offered: plainOnly,
          },
        );
      expect(commandTexts(ask(on(false), single, { sweep }))).toContain("delete n1");
      expect(codesOf(ask(on(true), single, { sweep }))).toMatchObject({ n1: "pods-unschedulable" });
    });

    it("03:D-39 devices of several nodes are had anew on one", () => {
      const names = ["n1", "n2"];
      const snapshot = planned(
        names.map((name) => machine(name, { pods: [claimed(name)] })),
        {
          slices: names.map((name) => own(name)),
          claims: (uidOf) => names.map((name) => held(name, uidOf(`${name}-0`))),
        },
      );
      expect(commandTexts(ask(snapshot, multi, { sweep }))).toEqual(["replace n1,n2 -> small"]);
    });

    it("03:D-39 of a device that others share, only the part of the pod that moves is free", () => {
      const shared = { name: "gpu-0", allowMultipleAllocations: true, capacity: { memory: { value: "40Gi" } } };
      const on = (asked: string) =>
        planned(
          [
            machine("n1", { pods: [claimed("moving")] }),
            machine("n2", { pods: [claimed("live"), {}, {}, {}, {}, {}] }),
          ],
          {
            slices: [resourceSlice("fabric", { pool: "fabric", devices: [shared] })],
            claims: (uidOf) => {
              const share = (name: string, uid: string, memory: string) =>
                resourceClaim(name, {
                  requests: [exactly("request", { capacity: { requests: { memory } } })],
                  status: allocatedTo([uid], [{ device: "gpu-0", consumedCapacity: { memory: "15Gi" } }], "fabric"),
                });
              return [share("moving", uidOf("n1-0"), asked), share("live", uidOf("n2-0"), "15Gi")];
            },
            offered: [types[0] as (typeof types)[0]],
          },
        );
      expect(commandTexts(ask(on("25Gi"), single, { sweep }))).toContain("delete n1");
      expect(codesOf(ask(on("26Gi"), single, { sweep }))).toMatchObject({ n1: "pods-unschedulable" });
    });
  },
);
