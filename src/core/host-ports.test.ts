import { describe, expect, it } from "vitest";
import type { ContainerPort, Pod } from "../api/kubernetes/pod.ts";
import { hostPortConflict, hostPortsOf } from "./host-ports.ts";

const pod = (name: string, ...ports: readonly ContainerPort[]): Pod => ({
  metadata: { name, namespace: "shop" },
  spec: { containers: [{ ports }], initContainers: [{ ports: [{ hostPort: 9999 }] }] },
});
const ports = (name: string, ...list: readonly ContainerPort[]) => hostPortsOf(pod(name, ...list));

describe("hostPortsOf", () => {
  it("02:S-50 lists the host ports of containers, not of init containers, open to all addresses by default", () => {
    expect(
      ports(
        "a",
        { containerPort: 80 },
        { hostPort: 0 },
        { hostPort: 80 },
        { hostPort: 53, protocol: "UDP", hostIP: "" },
      ),
    ).toEqual([
      { ip: "0.0.0.0", port: 80, protocol: "TCP", owner: "shop/a" },
      { ip: "0.0.0.0", port: 53, protocol: "UDP", owner: "shop/a" },
    ]);
    expect(hostPortsOf({ metadata: { name: "b" }, spec: {} })).toEqual([]);
  });

  it("02:S-50 has one spelling for each address", () => {
    const spellings = [
      "0:0:0:0:0:0:0:0",
      "::0",
      "FE80::0001",
      "::ffff:10.0.0.1",
      "::FFFF:A00:1",
      "10.0.0.1",
      "::x",
      "a]b:",
    ];
    expect(ports("a", ...spellings.map((hostIP) => ({ hostPort: 1, hostIP }))).map(({ ip }) => ip)).toEqual([
      "::",
      "::",
      "fe80::1",
      "10.0.0.1",
      "10.0.0.1",
      "10.0.0.1",
      "::x",
      "a]b:",
    ]);
  });
});

describe("clash", () => {
  const cases: readonly [title: string, a: ContainerPort, b: ContainerPort, expected: boolean][] = [
    ["the same", { hostPort: 80, hostIP: "10.0.0.1" }, { hostPort: 80, hostIP: "10.0.0.1" }, true],
    ["another address", { hostPort: 80, hostIP: "10.0.0.1" }, { hostPort: 80, hostIP: "10.0.0.2" }, false],
    ["all IPv4 addresses", { hostPort: 80 }, { hostPort: 80, hostIP: "10.0.0.2" }, true],
    ["all IPv6 addresses", { hostPort: 80, hostIP: "10.0.0.1" }, { hostPort: 80, hostIP: "::" }, true],
    ["all of both", { hostPort: 80 }, { hostPort: 80, hostIP: "::" }, true],
    ["another port", { hostPort: 80 }, { hostPort: 81 }, false],
    ["another protocol", { hostPort: 80 }, { hostPort: 80, protocol: "UDP" }, false],
    ["TCP unless it says otherwise", { hostPort: 80 }, { hostPort: 80, protocol: "TCP" }, true],
  ];
  it.each(cases)("02:S-50 %s", (_, a, b, expected) => {
    expect(hostPortConflict(ports("a", a), ports("b", b)) !== undefined).toBe(expected);
    expect(hostPortConflict(ports("b", b), ports("a", a)) !== undefined).toBe(expected);
  });

  it("02:S-50 a pod does not clash with itself, but with its namesake elsewhere", () => {
    const own = ports("a", { hostPort: 80 });
    expect(hostPortConflict(own, own)).toBeUndefined();
    const namesake = hostPortsOf({ ...pod("a", { hostPort: 80 }), metadata: { name: "a", namespace: "other" } });
    expect(hostPortConflict(own, namesake)).toEqual({ wanted: own[0], existing: namesake[0] });
  });

  it("02:E-3 says which port, and whose it is", () => {
    const wanted = ports("a", { hostPort: 79 }, { hostPort: 80 });
    const existing = ports("b", { hostPort: 80, hostIP: "::" });
    expect(hostPortConflict(wanted, existing)).toEqual({ wanted: wanted[1], existing: existing[0] });
  });
});
