import { describe, expect, it } from "vitest";
import type { Pod, PodSpec, PodStatus } from "../api/kubernetes/pod.ts";
import { annotations, taints } from "../api/labels.ts";
import type { ObjectMeta } from "../api/object.ts";
import {
  disruptionBudget,
  isActive,
  isCurrentlyReschedulable,
  isDisruptable,
  isEvictable,
  isFullyBlocked,
  isProvisionable,
  isReschedulable,
  isTerminal,
  isTerminating,
  type PodDisruptionBudget,
} from "./provisionable.ts";

interface Parts {
  readonly metadata?: ObjectMeta;
  readonly spec?: PodSpec;
  readonly status?: PodStatus;
}
const pod = ({ metadata, spec, status }: Parts = {}): Pod => ({
  metadata: { name: "p", namespace: "shop", labels: { app: "web" }, ...metadata },
  spec: { ...spec },
  status: { phase: "Running", ...status },
});
const ownedBy = (apiVersion: string, kind: string): ObjectMeta => ({
  ownerReferences: [
    { apiVersion: "example.com/v1", kind: "Other", name: "o", uid: "1", controller: true },
    { apiVersion, kind, name: "o", uid: "2" },
  ],
});
const daemon = ownedBy("apps/v1", "DaemonSet");
const mirror = ownedBy("v1", "Node");
const stateful = ownedBy("apps/v1", "StatefulSet");
const deleted: ObjectMeta = { deletionTimestamp: "2026-01-15T12:00:00Z" };
const now = Date.parse("2026-01-15T12:00:00Z");
const protectedFor = (value: string): ObjectMeta => ({ annotations: { [annotations.doNotDisrupt]: value } });

describe("isProvisionable", () => {
  const waiting = (parts: Parts = {}): Pod => {
    const scheduled = { type: "PodScheduled", status: "False", reason: "Unschedulable" };
    return pod({ ...parts, status: { phase: "Pending", conditions: [scheduled], ...parts.status } });
  };
  const condition = (type: string, reason: string, status = "False") => ({
    status: { conditions: [{ type, status, reason }] },
  });
  const cases: readonly [title: string, pod: Pod, expected: boolean][] = [
    ["02:P-1 a scheduler gave up on it", waiting(), true],
    ["02:P-1 the condition's status is not read", waiting(condition("PodScheduled", "Unschedulable", "True")), true],
    ["02:P-1 gated", waiting(condition("PodScheduled", "SchedulingGated")), false],
    ["02:P-1 the reason of another condition", waiting(condition("Ready", "Unschedulable")), false],
    ["02:P-1 not looked at yet", pod({ status: { phase: "Pending" } }), false],
    ["02:P-1 any scheduler will do", waiting({ spec: { schedulerName: "mine" } }), true],
    ["02:P-2 bound", waiting({ spec: { nodeName: "n" } }), false],
    ["02:P-3 about to be bound", waiting({ status: { nominatedNodeName: "n" } }), false],
    ["02:P-4 a DaemonSet's", waiting({ metadata: daemon }), false],
    ["02:P-4 a DaemonSet of another group", waiting({ metadata: ownedBy("apps/v2", "DaemonSet") }), true],
    ["02:P-5 a node's", waiting({ metadata: mirror }), false],
    ["02:P-6 being deleted", waiting({ metadata: deleted }), true],
    ["02:P-6 failed", waiting({ status: { phase: "Failed" } }), true],
  ];
  it.each(cases)("%s", (_, one, expected) => expect(isProvisionable(one)).toBe(expected));
});

describe("derived predicates", () => {
  const flags = (one: Pod) => ({
    terminal: isTerminal(one),
    terminating: isTerminating(one),
    active: isActive(one),
    reschedulable: isReschedulable(one),
    disruptable: isDisruptable(one, now),
    evictable: isEvictable(one, now),
  });
  const running = {
    terminal: false,
    terminating: false,
    active: true,
    reschedulable: true,
    disruptable: true,
    evictable: true,
  };
  const gone = { ...running, active: false, reschedulable: false, evictable: false };
  const cases: readonly [title: string, pod: Pod, expected: Partial<typeof running>][] = [
    ["a running pod", pod(), running],
    ["failed", pod({ status: { phase: "Failed" } }), { ...gone, terminal: true }],
    ["succeeded", pod({ status: { phase: "Succeeded" } }), { ...gone, terminal: true }],
    ["terminating", pod({ metadata: deleted }), { ...gone, terminating: true }],
    [
      "terminating, of a StatefulSet: another will come",
      pod({ metadata: { ...deleted, ...stateful } }),
      { ...gone, terminating: true, reschedulable: true },
    ],
    [
      "failed, of a StatefulSet: not terminating",
      pod({ metadata: stateful, status: { phase: "Failed" } }),
      { ...gone, terminal: true },
    ],
    ["a daemon's", pod({ metadata: daemon }), { ...running, reschedulable: false }],
    ["a mirror", pod({ metadata: mirror }), { ...running, reschedulable: false, evictable: false }],
    [
      "tolerates the disruption taint",
      pod({ spec: { tolerations: [{ key: taints.disrupted.key, operator: "Exists" }] } }),
      { ...running, evictable: false },
    ],
    ["02:P-7 protected", pod({ metadata: protectedFor("true") }), { ...running, disruptable: false, evictable: false }],
    [
      "02:P-7 protected for a while, start unknown",
      pod({ metadata: protectedFor("10m") }),
      { ...running, disruptable: false, evictable: false },
    ],
    [
      "02:P-7 protected for a while that is not over",
      pod({ metadata: protectedFor("10m"), status: { startTime: "2026-01-15T11:50:01Z" } }),
      { ...running, disruptable: false, evictable: false },
    ],
    [
      "02:P-7 protected for a while that is over",
      pod({ metadata: protectedFor("10m"), status: { startTime: "2026-01-15T11:50:00Z" } }),
      running,
    ],
    ["02:P-7 a protection nobody understands", pod({ metadata: protectedFor("yes") }), running],
    [
      "02:P-7 protection ends with the pod",
      pod({ metadata: { ...protectedFor("true"), ...deleted } }),
      { ...gone, terminating: true },
    ],
  ];
  it.each(cases)("02 §1.1 %s", (_, one, expected) => expect(flags(one)).toEqual(expected));
});

describe("isCurrentlyReschedulable", () => {
  type BudgetSpec = NonNullable<PodDisruptionBudget["spec"]>;
  const budget = (spec: BudgetSpec, namespace = "shop") =>
    disruptionBudget({
      metadata: { name: "b", namespace },
      spec: { selector: { matchLabels: { app: "web" } }, ...spec },
    });
  const unready: PodStatus = { conditions: [{ type: "Ready", status: "False" }] };
  const ready: PodStatus = { conditions: [{ type: "Ready", status: "True" }] };
  const allow: BudgetSpec = { maxUnavailable: 0, unhealthyPodEvictionPolicy: "AlwaysAllow" };
  const tolerant: PodSpec = { tolerations: [{ operator: "Exists" }] };
  const cases: readonly [title: string, pod: Pod, pdbs: readonly ReturnType<typeof budget>[], expected: boolean][] = [
    ["no budget", pod(), [], true],
    ["maxUnavailable 0", pod(), [budget({ maxUnavailable: 0 })], false],
    ['maxUnavailable "0%"', pod(), [budget({ maxUnavailable: "0%" })], false],
    ['minAvailable "100%"', pod(), [budget({ minAvailable: "100%" })], false],
    ["minAvailable as a number is never recognised", pod(), [budget({ minAvailable: 100 })], true],
    ["a budget with room", pod(), [budget({ maxUnavailable: "1%" })], true],
    ["two budgets, whatever they allow", pod(), [budget({ maxUnavailable: 9 }), budget({ maxUnavailable: 9 })], false],
    ["a budget of another namespace", pod(), [budget({ maxUnavailable: 0 }, "other")], true],
    ["a budget for other pods", pod(), [budget({ maxUnavailable: 0, selector: { matchLabels: { app: "db" } } })], true],
    ["a budget without selector", pod(), [budget({ maxUnavailable: 0, selector: undefined })], true],
    ["a budget for all pods", pod(), [budget({ maxUnavailable: 0, selector: {} })], false],
    ["AlwaysAllow, unhealthy", pod({ status: unready }), [budget(allow)], true],
    ["AlwaysAllow, healthy", pod({ status: ready }), [budget(allow)], false],
    ["unhealthy without AlwaysAllow", pod({ status: unready }), [budget({ maxUnavailable: 0 })], false],
    ["two budgets, unhealthy", pod({ status: unready }), [budget(allow), budget(allow)], false],
    ["a pod that is never evicted is not blocked", pod({ spec: tolerant }), [budget({ maxUnavailable: 0 })], true],
    ["protected", pod({ metadata: protectedFor("true") }), [], false],
    ["a daemon's", pod({ metadata: daemon }), [], false],
  ];
  it.each(cases)("02:P-8 %s", (_, one, pdbs, expected) =>
    expect(isCurrentlyReschedulable(one, { pdbs, now })).toBe(expected),
  );

  it("03:PDB-6 a daemon's pod can be blocked", () => {
    expect(isFullyBlocked(pod({ metadata: daemon }), { pdbs: [budget({ maxUnavailable: 0 })], now })).toBe(true);
  });
});
