import { describe, expect, it } from "vitest";
import { type Daemon, type DaemonRollout, type NodeSeat, planDaemonSet } from "./plan.ts";

const oneAtATime: DaemonRollout = { maxUnavailable: 1, maxSurge: 0 };
const withSurge: DaemonRollout = { maxUnavailable: 0, maxSurge: 1 };

function daemon(name: string, more: Partial<Daemon> = {}): Daemon {
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

function seat(node: string, daemons: readonly Daemon[], more: Partial<NodeSeat<Daemon>> = {}): NodeSeat<Daemon> {
  return { node, daemons, shouldRun: true, mayStay: true, ...more };
}

const old = { isUpdated: false };
const down = { isAvailable: false };

describe("what to do to a daemon set", () => {
  it.each([
    ["fills empty places", [seat("a", []), seat("b", [daemon("x")])], oneAtATime, { create: ["a"], remove: [] }],
    [
      "waits where a pod goes",
      [seat("a", [daemon("x", { isTerminating: true })])],
      oneAtATime,
      { create: [], remove: [] },
    ],
    [
      "clears places that are not for it",
      [seat("a", [daemon("x")], { shouldRun: false, mayStay: false })],
      oneAtATime,
      { create: [], remove: ["x"] },
    ],
    ["lets stay what may", [seat("a", [daemon("x")], { shouldRun: false })], oneAtATime, { create: [], remove: [] }],
    [
      "keeps the eldest of two",
      [seat("a", [daemon("y", { createdAt: 2 }), daemon("x", { createdAt: 1 })])],
      oneAtATime,
      { create: [], remove: ["y"] },
    ],
    [
      "drops what is finished",
      [seat("a", [daemon("x", { isFinished: true })])],
      oneAtATime,
      { create: [], remove: ["x"] },
    ],
    [
      "replaces one",
      [seat("a", [daemon("x", old)]), seat("b", [daemon("y", old)])],
      oneAtATime,
      { create: [], remove: ["x"] },
    ],
    [
      "waits for the replaced one",
      [seat("a", [daemon("x", down)]), seat("b", [daemon("y", old)])],
      oneAtATime,
      { create: [], remove: [] },
    ],
    [
      "replaces broken ones at once",
      [seat("a", [daemon("x", { ...old, ...down })]), seat("b", [daemon("y", { ...old, ...down })])],
      oneAtATime,
      { create: [], remove: ["x", "y"] },
    ],
    ["leaves outdated ones to others", [seat("a", [daemon("x", old)])], undefined, { create: [], remove: [] }],
    [
      "surges on one node",
      [seat("a", [daemon("x", old)]), seat("b", [daemon("y", old)])],
      withSurge,
      { create: ["a"], remove: [] },
    ],
    [
      "waits for the surging one",
      [seat("a", [daemon("x", old), daemon("x2", down)]), seat("b", [daemon("y", old)])],
      withSurge,
      { create: [], remove: [] },
    ],
    [
      "drops the old one when the new works",
      [seat("a", [daemon("x", old), daemon("x2")])],
      withSurge,
      { create: [], remove: ["x"] },
    ],
  ] as const)("05:CP-L4 %s", (_, seats, rollout, expected) => {
    const { create, remove } = planDaemonSet<Daemon>(seats, rollout);
    expect({ create, remove: remove.map(({ name }) => name) }).toEqual(expected);
  });
});
