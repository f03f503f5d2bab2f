import { describe, expect, it } from "vitest";
import type { NodeVerdict, VerdictCause } from "./verdict.ts";
import { verdictEvent } from "./verdict-event.ts";
import { verdictText } from "./verdict-text.ts";

const about = (cause: VerdictCause): NodeVerdict => ({ node: "n1", nodePool: "default", ...cause });
const until = Date.parse("2026-01-15T13:00:00Z");

describe("verdicts in words", () => {
  it.each<[VerdictCause, string]>([
    [
      { code: "pod-protected", pod: "default/a", untilMs: until },
      "pod default/a has the annotation karpenter.sh/do-not-disrupt until 2026-01-15T13:00:00Z",
    ],
    [
      { code: "pdb", pod: "default/a", budgets: ["default/b"] },
      "PodDisruptionBudget default/b allows no eviction of pod default/a now",
    ],
    [
      { code: "pdb", pod: "default/a", budgets: ["default/b", "default/c"] },
      "pod default/a has several PodDisruptionBudgets (default/b, default/c), so it cannot be evicted",
    ],
    [
      { code: "budget", pool: "default", reason: "Empty", allowed: 0, disrupting: 0 },
      "the budgets of NodePool default allow no disruption of empty nodes now",
    ],
    [
      { code: "budget", pool: "default", reason: "Drifted", allowed: 1, disrupting: 1 },
      "the budgets of NodePool default allow 1 disruption of drifted nodes at a time, and 1 node is being disrupted or not ready",
    ],
    [
      { code: "budget", pool: "default", reason: "Underutilized", allowed: 1, disrupting: 0 },
      "the budgets of NodePool default allow 1 disruption of underutilized nodes at a time, and other nodes go first",
    ],
    [
      { code: "budget", pool: "default", reason: "Empty", allowed: 3, disrupting: 2 },
      "the budgets of NodePool default allow 3 disruptions of empty nodes at a time, and other nodes go first; 2 nodes are being disrupted or not ready",
    ],
    [
      { code: "not-consolidatable", untilMs: until },
      "consolidateAfter, which counts from its last pod event or its initialization, lasts until 2026-01-15T13:00:00Z",
    ],
    [
      {
        code: "needs-more-nodes",
        savings: 0.21,
        newNodes: [
          { price: 1, pods: ["default/a"] },
          { price: 1, pods: ["default/b"] },
        ],
      },
      "its pods would need 2 new nodes (default/a; default/b), which would save $0.2100/hour, but a node is replaced by one node only",
    ],
    [
      { code: "pods-unschedulable", savings: 1, pods: [{ pod: "default/a", message: "no" }] },
      "removing it would save $1.0000/hour, but pod default/a could not be scheduled: no",
    ],
    [{ code: "chosen", decision: "replace", savings: -0.5 }, "replacing it would cost $0.5000/hour more"],
    [{ code: "possible", decision: "delete", savings: 0.00001 }, "deleting it would save nothing"],
    [
      { code: "saving-too-small", pool: "default", savings: 0.1, minimum: 0.5 },
      "it would save $0.1000/hour, less than the $0.5000/hour that NodePool default asks for (karpenter.sh/consolidation-min-saving)",
    ],
    [
      { code: "no-cheaper-type", price: 0, cheapest: 1 },
      "its price is not known, so nothing can be said to be cheaper",
    ],
    [
      { code: "scaling-down", pool: "default", nodes: 2, replicas: 1 },
      "NodePool default first scales down from 2 nodes to 1",
    ],
    [
      { code: "node-limit", pool: "default", limit: 1 },
      "NodePool default may have 1 node, so there is no room for a replacement",
    ],
  ])("03 §4 %o", (cause, text) => {
    expect(verdictText(about(cause))).toBe(text);
  });

  it.each<[string, VerdictCause, string | undefined]>([
    ["03:D-11 nothing of nodes that are not ours", { code: "unmanaged" }, undefined],
    ["03:D-12b", { code: "not-initialized" }, "DisruptionBlocked: Node isn't initialized"],
    [
      "03:D-18",
      { code: "pdb", pod: "default/a", budgets: ["default/web"] },
      "DisruptionBlocked: Pdb prevents pod evictions (PodDisruptionBudget=[default/web])",
    ],
    [
      "03:D-35",
      { code: "consolidation-disabled", pool: "p" },
      'Unconsolidatable: NodePool "p" has consolidation disabled',
    ],
    [
      "03:D-48",
      { code: "no-cheaper-type", price: 1, cheapest: 2 },
      "Unconsolidatable: Can't replace with a cheaper node",
    ],
    [
      "03:D-44 02:Q-54",
      { code: "pods-unschedulable", savings: 1, pods: [{ pod: "default/a", message: "no" }] },
      "Unconsolidatable: Not all pods would schedule, default/a => no ",
    ],
    ["03:B-7 nothing of scores", { code: "score", scores: [] }, undefined],
  ])("%s as an event", (_, cause, text) => {
    const event = verdictEvent(about(cause), "single-node-consolidation");
    expect(event && `${event.reason}: ${event.message}`).toBe(text);
  });

  it("03:D-44 names five pods, and how many more", () => {
    const pods = Array.from({ length: 7 }, (_, index) => ({ pod: `default/p${index}`, message: "no" }));
    const event = verdictEvent(about({ code: "pods-unschedulable", savings: 1, pods }), "drift");
    expect(event).toMatchObject({
      reason: "DisruptionBlocked",
      message: expect.stringMatching(/p4 => no {2}and 2 other\(s\)$/),
    });
  });
});
