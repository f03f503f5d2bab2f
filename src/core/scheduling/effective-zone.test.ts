import { expect, it } from "vitest";
import { instanceType } from "../../../test/builders/instance-type.ts";
import { node } from "../../../test/builders/node.ts";
import { nodePool } from "../../../test/builders/node-pool.ts";
import { pod } from "../../../test/builders/pod.ts";
import { type ProblemBuilder, problem } from "../../../test/builders/problem.ts";
import { runSteps } from "../../util/steps.ts";
import { pendingByZone } from "./effective-zone.ts";
import { openPass } from "./open-pass.ts";

/** Offerings are in the zones a, b and c. */
function zonesOf(asked: ProblemBuilder): Readonly<Record<string, number>> {
  return Object.fromEntries(runSteps(pendingByZone(runSteps(openPass(asked.build())))));
}

const waiting = pod().phase("Pending");

it("02:Q-53 a pod that names no zone can go anywhere", () => {
  expect(zonesOf(problem().pods(3, waiting))).toEqual({ flexible: 3 });
});

it("02:Q-53 a pod that names one zone is counted there, one that names two anywhere", () => {
  expect(
    zonesOf(problem().pod(waiting.on("zone", "a"), waiting.on("zone", "b"), waiting.needs(["zone", "In", "a", "b"]))),
  ).toEqual({ a: 1, b: 1, flexible: 1 });
});

it("02:Q-53 what a pod merely prefers does not bind it", () => {
  expect(zonesOf(problem().pod(waiting.prefers(1, ["zone", "In", "a"])))).toEqual({ flexible: 1 });
});

it("02:Q-53 a pod that must not be in some zones can still go to several", () => {
  expect(zonesOf(problem().pod(waiting.needs(["zone", "NotIn", "a"])))).toEqual({ flexible: 1 });
});

it("02:Q-53 pods that run already are not pending", () => {
  expect(zonesOf(problem().pod(pod().phase("Running").on("zone", "a")))).toEqual({});
});

it("02:Q-53 a volume binds its pod to the volume's zone", () => {
  const asked = problem()
    .volumes({ claim: "data", zones: [["b"]] })
    .pod(waiting.volume("data"));

  expect(zonesOf(asked)).toEqual({ b: 1 });
});

it("02:Q-53 a volume in a zone the pod does not want leaves none", () => {
  const asked = problem()
    .volumes({ claim: "data", zones: [["b"]] })
    .pod(waiting.volume("data").on("zone", "a"));

  expect(zonesOf(asked)).toEqual({ none: 1 });
});

const spread = waiting.label("app", "web").spread("zone");
const runsIn = (zone: string) =>
  node(`in-${zone}`)
    .zone(zone)
    .running(pod().named(`web-${zone}`).label("app", "web"));

it("02:Q-53 a spread constraint leaves the zones that are not ahead of the others", () => {
  expect(zonesOf(problem().pod(spread))).toEqual({ flexible: 1 });
  expect(zonesOf(problem().nodes(runsIn("a")).pod(spread))).toEqual({ flexible: 1 });
  expect(zonesOf(problem().nodes(runsIn("a"), runsIn("b")).pod(spread))).toEqual({ c: 1 });
});

it("02:Q-53 a spread constraint and a volume that contradict each other leave none", () => {
  const asked = problem()
    .nodes(runsIn("a"), runsIn("b"))
    .volumes({ claim: "data", zones: [["a"]] })
    .pod(spread.volume("data"));

  expect(zonesOf(asked)).toEqual({ none: 1 });
});

it("02:Q-53 affinity binds to where the others are, anti-affinity keeps out of there", () => {
  const near = waiting.label("app", "web").near("zone");
  const apart = waiting.apart("zone", { app: "web" });

  expect(zonesOf(problem().nodes(runsIn("b")).pod(near))).toEqual({ b: 1 });
  expect(zonesOf(problem().nodes(runsIn("b")).pod(apart))).toEqual({ flexible: 1 });
  expect(zonesOf(problem().nodes(runsIn("a"), runsIn("b")).pod(apart))).toEqual({ c: 1 });
});

it("02:Q-53 affinity to nobody leaves none", () => {
  expect(zonesOf(problem().pod(waiting.near("zone", { app: "absent" })))).toEqual({ none: 1 });
});

it("02:Q-53 a constraint on another label says nothing of zones", () => {
  const asked = problem()
    .pools(nodePool().zones("a"))
    .types(instanceType("m").zones("a"))
    .pod(waiting.label("app", "web").spread("host"));

  expect(zonesOf(asked)).toEqual({ flexible: 1 });
});
