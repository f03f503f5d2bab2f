import { describe, expect, it } from "vitest";
import { type DaemonPodState, type DaemonRollout, type NodeDaemonState, planDaemonSet } from "./daemon-set-plan.ts";

const oneAtATime: DaemonRollout = { maxUnavailable: 1, maxSurge: 0 };
const withSurge: DaemonRollout = { maxUnavailable: 0, maxSurge: 1 };

function daemonPod(name: string, more: Partial<DaemonPodState> = {}): DaemonPodState {
  return {
    name,
    isTerminating: false,
    isFinished: false,
    isAvailable: true,
    isUpdated: true,
    isAssigned: true,
    createdAt: 0,
    ...more,
  };
}

function nodeState(
  node: string,
  daemonPods: readonly DaemonPodState[],
  more: Partial<NodeDaemonState<DaemonPodState>> = {},
): NodeDaemonState<DaemonPodState> {
  return { node, daemonPods, shouldRun: true, shouldContinueRunning: true, ...more };
}

const old = { isUpdated: false };
const down = { isAvailable: false };

describe("what to do to a daemon set", () => {
  it.each([
    [
      "fills empty places",
      [nodeState("a", []), nodeState("b", [daemonPod("x")])],
      oneAtATime,
      { create: ["a"], remove: [] },
    ],
    [
      "waits where a pod goes",
      [nodeState("a", [daemonPod("x", { isTerminating: true })])],
      oneAtATime,
      { create: [], remove: [] },
    ],
    [
      "clears places that are not for it",
      [nodeState("a", [daemonPod("x")], { shouldRun: false, shouldContinueRunning: false })],
      oneAtATime,
      { create: [], remove: ["x"] },
    ],
    [
      "lets stay what may",
      [nodeState("a", [daemonPod("x")], { shouldRun: false })],
      oneAtATime,
      { create: [], remove: [] },
    ],
    [
      "keeps the eldest of two",
      [nodeState("a", [daemonPod("y", { createdAt: 2 }), daemonPod("x", { createdAt: 1 })])],
      oneAtATime,
      { create: [], remove: ["y"] },
    ],
    [
      "drops what is finished",
      [nodeState("a", [daemonPod("x", { isFinished: true })])],
      oneAtATime,
      { create: [], remove: ["x"] },
    ],
    [
      "replaces one",
      [nodeState("a", [daemonPod("x", old)]), nodeState("b", [daemonPod("y", old)])],
      oneAtATime,
      { create: [], remove: ["x"] },
    ],
    [
      "waits for the replaced one",
      [nodeState("a", [daemonPod("x", down)]), nodeState("b", [daemonPod("y", old)])],
      oneAtATime,
      { create: [], remove: [] },
    ],
    [
      "replaces broken ones at once",
      [nodeState("a", [daemonPod("x", { ...old, ...down })]), nodeState("b", [daemonPod("y", { ...old, ...down })])],
      oneAtATime,
      { create: [], remove: ["x", "y"] },
    ],
    ["leaves outdated ones to others", [nodeState("a", [daemonPod("x", old)])], undefined, { create: [], remove: [] }],
    [
      "surges on one node",
      [nodeState("a", [daemonPod("x", old)]), nodeState("b", [daemonPod("y", old)])],
      withSurge,
      { create: ["a"], remove: [] },
    ],
    [
      "waits for the surging one",
      [nodeState("a", [daemonPod("x", old), daemonPod("x2", down)]), nodeState("b", [daemonPod("y", old)])],
      withSurge,
      { create: [], remove: [] },
    ],
    [
      "drops the old one when the new works",
      [nodeState("a", [daemonPod("x", old), daemonPod("x2")])],
      withSurge,
      { create: [], remove: ["x"] },
    ],
  ] as const)("05:CP-L4 %s", (_, nodeStates, rollout, expected) => {
    const { create, remove } = planDaemonSet<DaemonPodState>(nodeStates, rollout);
    expect({ create, remove: remove.map(({ name }) => name) }).toEqual(expected);
  });
});
