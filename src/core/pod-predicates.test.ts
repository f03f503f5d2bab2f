import { describe, expect, it } from "vitest";
import type { Pod, PodSpec, PodStatus } from "../api/kubernetes/pod.ts";
import { annotations, taints } from "../api/labels.ts";
import type { ObjectMeta } from "../api/object.ts";
import { PdbIndex } from "./pdb-index.ts";
import {
  compilePdb,
  isActivePod,
  isCurrentlyReschedulable,
  isDisruptable,
  isDrainable,
  isEvictable,
  isFullyBlocked,
  isProvisionable,
  isReschedulable,
  isStuckTerminating,
  isTerminalPod,
  isTerminatingPod,
  isWaitingEviction,
  type PodDisruptionBudget,
  pdbsBlockingEviction,
} from "./pod-predicates.ts";

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
    terminal: isTerminalPod(one),
    terminating: isTerminatingPod(one),
    active: isActivePod(one),
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

describe("what holds the end of a node", () => {
  const secondsAgo = (seconds: number): ObjectMeta => ({
    deletionTimestamp: new Date(now - seconds * 1000).toISOString(),
  });
  const tolerant = (key: string): PodSpec => ({ tolerations: [{ key, operator: "Exists" }] });
  const flags = (one: Pod) => ({
    stuck: isStuckTerminating(one, now),
    drainable: isDrainable(one, now),
    waiting: isWaitingEviction(one, now),
  });
  const holding = { stuck: false, drainable: true, waiting: true };
  const ignored = { stuck: false, drainable: false, waiting: false };
  const cases: readonly [title: string, pod: Pod, expected: typeof holding][] = [
    ["a running pod", pod(), holding],
    ["a daemon's", pod({ metadata: daemon }), holding],
    ["protected", pod({ metadata: protectedFor("true") }), holding],
    ["failed: its volumes still go", pod({ status: { phase: "Failed" } }), { ...holding, waiting: false }],
    ["succeeded: its volumes still go", pod({ status: { phase: "Succeeded" } }), { ...holding, waiting: false }],
    ["static", pod({ metadata: mirror }), ignored],
    ["tolerates disruption", pod({ spec: tolerant(taints.disrupted.key) }), ignored],
    ["tolerates cordoned nodes", pod({ spec: tolerant("node.kubernetes.io/unschedulable") }), holding],
    ["terminating, its grace not over", pod({ metadata: secondsAgo(-600) }), holding],
    ["terminating, a minute past its end", pod({ metadata: secondsAgo(60) }), holding],
    ["terminating, longer past its end", pod({ metadata: secondsAgo(61) }), { ...ignored, stuck: true }],
  ];
  it.each(cases)("03 §0.4 %s", (_, one, expected) => expect(flags(one)).toEqual(expected));
});

describe("isCurrentlyReschedulable", () => {
  type BudgetSpec = NonNullable<PodDisruptionBudget["spec"]>;
  const budget = (spec: BudgetSpec, namespace = "shop") =>
    compilePdb({
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
    ["a budget without a spec", pod(), [compilePdb({ metadata: { name: "b", namespace: "shop" } })], true],
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
    expect(isCurrentlyReschedulable(one, { pdbs: new PdbIndex(pdbs), nowMs: now })).toBe(expected),
  );

  it("03:PDB-6 a daemon's pod can be blocked", () => {
    expect(
      isFullyBlocked(pod({ metadata: daemon }), { pdbs: new PdbIndex([budget({ maxUnavailable: 0 })]), nowMs: now }),
    ).toBe(true);
  });
});

describe("isBlockedNow", () => {
  const budget = (disruptionsAllowed: number | undefined, spec: PodDisruptionBudget["spec"] = {}, namespace = "shop") =>
    compilePdb({
      metadata: { name: "b", namespace },
      spec: { selector: { matchLabels: { app: "web" } }, ...spec },
      status: { disruptionsAllowed },
    });
  const unready: PodStatus = { conditions: [{ type: "Ready", status: "False" }] };
  const unknown: PodStatus = { conditions: [{ type: "Ready", status: "Unknown" }] };
  const allow = { unhealthyPodEvictionPolicy: "AlwaysAllow" };
  const spent = budget(0);
  const cases: readonly [title: string, pod: Pod, pdbs: readonly ReturnType<typeof budget>[], expected: boolean][] = [
    ["03:PDB-4 no budget", pod(), [], false],
    ["03:PDB-4 none may go", pod(), [spent], true],
    ["03:PDB-4 one may go", pod(), [budget(1)], false],
    ["03:PDB-4 nobody has counted yet", pod(), [budget(undefined)], true],
    ["03:PDB-4 a full block that allows one just now", pod(), [budget(1, { maxUnavailable: 0 })], false],
    ["a budget of another namespace", pod(), [budget(0, {}, "other")], false],
    ["a budget for other pods", pod(), [budget(0, { selector: { matchLabels: { app: "db" } } })], false],
    ["03:PDB-2 two budgets, whatever they allow", pod(), [budget(9), budget(9)], true],
    ["03:PDB-3 AlwaysAllow, not ready", pod({ status: unready }), [budget(0, allow)], false],
    ["03:PDB-3 AlwaysAllow, ready or nobody knows", pod({ status: unknown }), [budget(0, allow)], true],
    ["03:PDB-3 not ready, without AlwaysAllow", pod({ status: unready }), [spent], true],
    ["03:PDB-1 protected", pod({ metadata: protectedFor("true") }), [spent], false],
    ["03:PDB-1 terminating", pod({ metadata: deleted }), [spent], false],
    ["03:PDB-1 done", pod({ status: { phase: "Succeeded" } }), [spent], false],
    ["03:PDB-1 tolerates everything", pod({ spec: { tolerations: [{ operator: "Exists" }] } }), [spent], false],
    ["03:PDB-6 static", pod({ metadata: mirror }), [spent], false],
    ["03:PDB-6 a daemon's", pod({ metadata: daemon }), [spent], true],
  ];
  it.each(cases)("%s", (_, one, pdbs, expected) =>
    expect(pdbsBlockingEviction(one, { pdbs: new PdbIndex(pdbs), nowMs: now }).length > 0).toBe(expected),
  );

  it("03:PDB-6 two pods under a budget of one are each free to go", () => {
    const pdbs = new PdbIndex([budget(1)]);
    expect(
      ["a", "b"].map((name) => pdbsBlockingEviction(pod({ metadata: { name } }), { pdbs, nowMs: now }).length > 0),
    ).toEqual([false, false]);
  });
});
