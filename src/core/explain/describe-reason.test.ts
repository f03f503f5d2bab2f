import { describe, expect, it } from "vitest";
import { describeReason, humanAmount } from "./describe-reason.ts";
import type { RefusalReason } from "./explanation.ts";

const eightZones = { a: 0, b: 1, c: 2, d: 3, e: 4, f: 5, g: 6, h: 7 };

/** Every code, at a pool or a node, and what is said of it. */
const cases: readonly [reason: RefusalReason, text: string, kind?: "pool" | "node"][] = [
  [{ code: "taint", taint: "gpu:NoSchedule" }, "the pod does not tolerate the taint gpu:NoSchedule of pool x"],
  [
    { code: "requirements", key: "team", wants: "In [a]", has: "In [b]" },
    "the pod requires team In [a], but pool x has In [b]",
  ],
  [
    { code: "requirements", key: "tema", wants: "In [a]", similarKey: "team" },
    "the pod requires tema In [a], a label node x does not have (did you mean team?)",
    "node",
  ],
  [
    { code: "volume-requirements", key: "zone", wants: "In [a]" },
    "its volume requires zone In [a], a label pool x does not have",
  ],
  [
    { code: "volume-limit", driver: "d", limit: 2, wanted: 3 },
    "node x can attach 2 volumes of driver d; with this pod it would have 3",
    "node",
  ],
  [{ code: "host-port", port: 80, protocol: "TCP" }, "host port 80/TCP of node x is taken", "node"],
  [
    { code: "host-port", port: 80, protocol: "UDP", owner: "default/web" },
    "host port 80/UDP of node x is taken by default/web",
    "node",
  ],
  [
    { code: "resources", resource: "cpu", asked: "4100m", available: "500m" },
    "the pod requests cpu 4.1; node x has 0.5 left",
    "node",
  ],
  [
    { code: "resources", resource: "memory", asked: "8Gi", available: "4Gi", instanceType: "m" },
    "the pod requests memory 8Gi; the nearest otherwise suitable type of pool x, m, offers 4Gi",
  ],
  [
    { code: "resources", resource: "cpu", asked: "4", available: "3", daemons: "1500m", instanceType: "m" },
    "the pod requests cpu 4; the nearest otherwise suitable type of pool x, m, offers 3 after daemons (1.5)",
  ],
  [
    { code: "topology", kind: "spread", key: "zone", counts: {} },
    "the pod must be spread over zone, a label pool x does not have",
  ],
  [
    { code: "topology", kind: "spread", key: "zone", counts: eightZones },
    "the topology spread over zone allows none of the values pool x can have (matching pods: a: 0, b: 1, c: 2, d: 3, e: 4, f: 5, and 2 more)",
  ],
  [
    { code: "topology", kind: "affinity", key: "zone", counts: {} },
    "pod affinity over zone: none of the values pool x can have holds a matching pod",
  ],
  [
    { code: "topology", kind: "anti-affinity", key: "zone", counts: { a: 1 } },
    "pod anti-affinity over zone: every value pool x can have holds a matching pod (matching pods: a: 1)",
  ],
  [
    { code: "instance-types", matches: false, fits: true, offered: false },
    "no instance type of pool x matches the required labels, and none has an available offering in that zone and capacity type",
  ],
  [{ code: "instance-types", matches: true, fits: false, offered: true }, "no instance type of pool x is large enough"],
  [
    { code: "instance-types", matches: true, fits: true, offered: true },
    "no instance type of pool x satisfies labels, size and offering together",
  ],
  [
    { code: "min-values", key: "type", achieved: 1, wanted: 2 },
    "pool x requires 2 values of type (minValues); only 1 would be left",
  ],
  [
    { code: "min-values", key: "type", achieved: 1 },
    "pool x requires more values of type (minValues); only 1 would be left",
  ],
  [
    { code: "limits", resource: "cpu", limit: "5", used: "4500m" },
    "pool x is limited to cpu 5 and uses 4.5; any new node would exceed it",
  ],
  [
    { code: "limits", resource: "cpu", limit: "5", used: "4", needed: "2500m", instanceType: "m" },
    "pool x is limited to cpu 5 and uses 4; the smallest otherwise suitable type, m, has 2.5",
  ],
  [{ code: "node-limit", resource: "nodes", limit: "1", used: "1" }, "pool x is limited to 1 nodes and has 1"],
  [
    { code: "reserved-capacity" },
    "reserved capacity of pool x would fit but is in use; the pod is tried again in the next round",
  ],
  [{ code: "dynamic-resources" }, "the pod has resource claims (Dynamic Resource Allocation), which are not supported"],
  [{ code: "no-templates", becauseOfMinValues: false }, "the requirements of pool x match no available instance type"],
  [
    { code: "no-templates", becauseOfMinValues: true },
    "the requirements of pool x match no available instance type (because of minValues)",
  ],
  [{ code: "no-pools" }, "there is no usable NodePool"],
  [{ code: "invalid-pod", text: "it is not valid" }, "it is not valid"],
];

describe("a reason in words", () => {
  it.each(cases)("%j", (reason, text, kind = "pool") => {
    expect(describeReason(reason, { kind, name: "x" })).toBe(text);
  });

  it("shows thousandths as a fraction, and everything else as it is written", () => {
    expect(["3900m", "-500m", "4", "1Gi", "m", "10mm"].map(humanAmount)).toEqual([
      "3.9",
      "-0.5",
      "4",
      "1Gi",
      "m",
      "10mm",
    ]);
  });
});
