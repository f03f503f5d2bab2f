import { describe, expect, it } from "vitest";
import { describeReason, humanAmount } from "./describe-reason.ts";
import type { RefusalReason } from "./explanation.ts";

const eightZones = { a: 0, b: 1, c: 2, d: 3, e: 4, f: 5, g: 6, h: 7 };

/** Every code, at a pool. */
const reasons: readonly RefusalReason[] = [
  { code: "taint", taint: "gpu:NoSchedule" },
  { code: "requirements", key: "team", wants: "In [a]", has: "In [b]" },
  { code: "requirements", key: "team", wants: "In [bleu]", has: "In [blue red]", similarValue: "blue" },
  { code: "requirements", key: "team", wants: "NotIn [a]", has: "In [a]" },
  { code: "requirements", key: "cpus", wants: "Gt 8", has: "In [4]" },
  { code: "requirements", key: "tema", wants: "Exists", similarKey: "team" },
  { code: "volume-requirements", key: "zone", wants: "In [a]" },
  { code: "volume-requirements", key: "zone", wants: "In [a]", has: "In [b c]" },
  { code: "volume-requirements", key: "zone", wants: "DoesNotExist", has: "In [b]" },
  { code: "volume-limit", driver: "disk", limit: 2, wanted: 3 },
  { code: "host-port", port: 80, protocol: "TCP", owner: "default/web" },
  { code: "resources", resource: "memory", asked: "129Gi", available: "16182Mi", instanceType: "m" },
  { code: "resources", resource: "memory", asked: "4097Mi", available: "4Gi", instanceType: "m" },
  { code: "resources", resource: "cpu", asked: "4", available: "3", daemons: "1500m", instanceType: "m" },
  { code: "topology", kind: "spread", key: "zone", counts: {} },
  { code: "topology", kind: "spread", key: "zone", counts: eightZones, maxSkew: 1 },
  { code: "topology", kind: "spread", key: "zone", counts: { a: 1, b: 1 }, maxSkew: 1, minDomains: 3 },
  { code: "topology", kind: "affinity", key: "zone", counts: {}, selector: "app=db" },
  { code: "topology", kind: "anti-affinity", key: "zone", counts: { a: 1 }, selector: "app=web" },
  { code: "topology", kind: "anti-affinity", key: "zone", counts: { a: 1 }, isOfOthers: true },
  { code: "instance-types", matches: false, fits: true, offered: false },
  { code: "instance-types", matches: true, fits: false, offered: true },
  { code: "instance-types", matches: true, fits: true, offered: true },
  { code: "min-values", key: "type", achieved: 1, wanted: 2 },
  { code: "min-values", key: "type", achieved: 1 },
  { code: "limits", resource: "cpu", limit: "5", used: "4500m" },
  { code: "limits", resource: "memory", limit: "10Gi", used: "4096Mi", needed: "16Gi", instanceType: "m" },
  { code: "node-limit", resource: "nodes", limit: "1", used: "1" },
  { code: "reserved-capacity" },
  { code: "dynamic-resources" },
  { code: "no-templates", becauseOfMinValues: false },
  { code: "no-templates", becauseOfMinValues: true },
  { code: "no-pools" },
  { code: "pool-unusable", because: "deleting", text: "is being deleted" },
  { code: "invalid-pod", text: "it is not valid" },
];

describe("a reason in words", () => {
  it("says what decides, with amounts in one unit", () => {
    const texts = reasons.map((reason) => describeReason(reason, { kind: "pool", name: "x" }));
    expect(texts.join("\n")).toMatchInlineSnapshot(`
      "the pod does not tolerate the taint gpu:NoSchedule of NodePool x
      the pod asks for team=a, but NodePool x has team=b
      the pod asks for team=bleu, but NodePool x has team in (blue, red) (did you mean blue?)
      the pod asks for team other than a, but NodePool x has team=a
      the pod asks for cpus > 8, but NodePool x has cpus=4
      the pod asks for the label tema, a label NodePool x does not have (did you mean team?)
      its volume is in zone=a, but NodePool x does not have that label
      its volume is in zone=a, but NodePool x has zone in (b, c)
      its volumes are in different places: no value of zone suits all of them
      NodePool x can attach 2 volumes of driver disk; with this pod it would have 3
      host port 80/TCP of every node of NodePool x is taken by the daemon default/web
      the pod requests memory 129Gi; the nearest type of NodePool x, m, offers 15.8Gi
      the pod requests memory 4097Mi; the nearest type of NodePool x, m, offers 4096Mi
      the pod requests cpu 4; the nearest type of NodePool x, m, offers 3 beside its daemons (1.5)
      the pod is spread over zone, a label NodePool x does not have
      the pod's spread over zone (maxSkew 1) allows no domain that NodePool x can use (matching pods: a: 0, b: 1, c: 2, d: 3, e: 4, f: 5, and 2 more)
      the pod's spread over zone asks for 3 domains (minDomains), and NodePool x can use 2 (matching pods: a: 1, b: 1)
      the pod must run beside pods with app=db (pod affinity over zone), and none runs where NodePool x can launch nodes
      the pod must not run beside pods with app=web (pod anti-affinity over zone), and they are wherever NodePool x can launch nodes (matching pods: a: 1)
      other pods refuse to run beside this one (their pod anti-affinity over zone), and they are wherever NodePool x can launch nodes (matching pods: a: 1)
      no instance type of NodePool x matches the required labels, and none is available in that zone and capacity type
      no instance type of NodePool x is large enough
      no instance type of NodePool x has the labels, the size and an offering at once
      NodePool x requires 2 values of type (minValues); only 1 would be left
      NodePool x requires more values of type (minValues); only 1 would be left
      NodePool x is limited to cpu 5 (spec.limits) and uses 4.5; any new node would exceed it
      NodePool x is limited to memory 10Gi (spec.limits) and uses 4Gi; the smallest type that would do, m, has 16Gi
      NodePool x is limited to 1 node (spec.limits.nodes) and has 1
      reserved capacity of NodePool x would fit but is in use; the pod is tried again in the next round
      the pod has resource claims (Dynamic Resource Allocation), which are not supported
      the requirements of NodePool x match no available instance type
      the requirements of NodePool x match no available instance type (because of minValues)
      there is no NodePool that could launch a node for it
      NodePool x is being deleted
      it is not valid"
    `);
    const onNode: RefusalReason = { code: "resources", resource: "cpu", asked: "4", available: "3500m" };
    expect(describeReason(onNode, { kind: "node", name: "x" })).toBe("the pod requests cpu 4; node x has 3.5 left");
  });

  it("shows thousandths as a fraction, and everything else as it is written", () => {
    expect(["3900m", "-500m", "4", "1Gi", "m"].map(humanAmount)).toEqual(["3.9", "-0.5", "4", "1Gi", "m"]);
  });
});
