import type { KubeObject } from "../../src/api/object.ts";
import { kubeletHealths } from "../../src/cloud/instance-source.ts";
import { defaultGates } from "../../src/controllers/settings.ts";
import { interruptionKinds } from "../../src/providers/aws/interruption/interruption-kinds.ts";
import type { OfferingPattern } from "../../src/providers/sim/offering-supply.ts";
import { Random } from "../../src/util/random.ts";
import { drawDeliveryDelays } from "../world/faults/delivery-delays.ts";
import { barePod, budget, buffer, chance, nodeClass, overlay, pool, workload } from "./objects.ts";
import type { Action, Story, StoryDelivery, StoryEvent, StoryFaults } from "./story.ts";

const apps = ["web", "api", "batch", "cache"];
const pools = ["a", "b", "c"];
const leastEvents = 12;
const moreEvents = 19;
/** Indices into what there is by then; the remainder counts. */
const anywhere = 1_000;

/** The story of a seed: always the same one. */
export function drawStory(seed: number): Story {
  const random = new Random(`fuzz-${seed}`);
  const setting = random.fork("setting");
  const gates = {
    ...defaultGates,
    NodeRepair: chance(setting, 0.5),
    NodeOverlay: chance(setting, 0.3),
    StaticCapacity: chance(setting, 0.4),
    CapacityBuffer: chance(setting, 0.3),
  };
  const count = leastEvents + setting.int(moreEvents);
  const opening: StoryEvent[] = [
    { action: { kind: "apply", object: pool("a", random.fork("pool-a")) }, passMs: 0 },
    {
      action: { kind: "apply", object: workload("Deployment", "web", random.fork("web")) },
      passMs: setting.int(60_000),
    },
  ];
  const rest = Array.from({ length: count - opening.length }, (_, at): StoryEvent => {
    const own = random.fork(`event-${at}`);
    return { action: drawAction(own, gates), passMs: pause(own) };
  });
  const isCalm = chance(setting, 0.35);
  return {
    seed,
    gates,
    faults: isCalm ? noFaults : drawFaults(random.fork("weather")),
    isCalm,
    delivery: drawDelivery(random.fork("delivery")),
    operators: chance(setting, 0.25) ? 2 : 1,
    events: [...opening, ...rest],
    epilogue: drawEpilogue(random.fork("epilogue"), gates),
  };
}

const noFaults: StoryFaults = { calls: {}, cloud: {}, crashes: 0 };

function drawDelivery(random: Random): StoryDelivery {
  return { delays: drawDeliveryDelays(random.fork("delays")), joinsAtOnce: chance(random, 0.6) };
}

/** Work for every controller, close together: pods come and go, claims and Nodes are deleted, buffers are made early. */
function drawEpilogue(random: Random, gates: Gates): readonly StoryEvent[] {
  return Array.from({ length: 4 + random.int(6) }, (_, at): StoryEvent => {
    const own = random.fork(`event-${at}`);
    return { action: drawQuietAction(own, gates), passMs: own.pick([0, 500, 5_000, 30_000, 60_000]) };
  });
}

function drawQuietAction(random: Random, gates: Gates): Action {
  const at = random.int(anywhere);
  const roll = random.int(100);
  if (roll < 40) return workloadAct(random);
  if (roll < 55) return { kind: "delete-claim", at };
  if (roll < 65) return { kind: "delete-newest-claim", afterMs: random.int(3_000) };
  if (roll < 80) return { kind: "delete-node", at };
  return extraAct(random, gates);
}

/** From nothing to hours, mostly short: trouble is where things happen at once. */
function pause(random: Random): number {
  const [least, most] = random.pick([
    [0, 0],
    [0, 2_000],
    [1_000, 30_000],
    [1_000, 30_000],
    [10_000, 120_000],
    [60_000, 600_000],
    [600_000, 4_000_000],
  ] as const);
  return least + random.int(most - least + 1);
}

function drawFaults(random: Random): StoryFaults {
  const upTo = (most: number) => (chance(random, 0.5) ? 0 : random.next() * most);
  return {
    calls: {
      calls: {
        conflict: upTo(0.1),
        "too-many-requests": upTo(0.05),
        "server-error": upTo(0.1),
        "lost-answer": upTo(0.05),
      },
      watches: { cut: upTo(0.02), expired: upTo(0.02) },
      watchDelayMs: Math.floor(upTo(5_000)),
      listDelayMs: Math.floor(upTo(5_000)),
    },
    cloud: { failed: upTo(0.2), lost: upTo(0.2), slow: upTo(0.1), refused: upTo(0.15), "silent-kubelet": upTo(0.1) },
    crashes: upTo(0.9),
  };
}

type Gates = Story["gates"];

function drawAction(random: Random, gates: Gates): Action {
  const roll = random.int(100);
  if (roll < 34) return workloadAct(random);
  if (roll < 52) return poolAct(random, gates);
  if (roll < 60) return extraAct(random, gates);
  if (roll < 88) return machineAct(random);
  if (roll < 94)
    return { kind: "kill", at: random.int(anywhere), awayMs: chance(random, 0.3) ? random.int(900_000) : 0 };
  return { kind: "nothing" };
}

function workloadAct(random: Random): Action {
  const app = random.pick(apps);
  const deployment = () => workload("Deployment", app, random);
  const roll = random.int(100);
  if (roll < 22) return { kind: "apply", object: deployment() };
  if (roll < 42) return { kind: "scale", object: deployment(), replicas: random.int(14) };
  if (roll < 52) return { kind: "roll", object: deployment(), image: `app:${2 + random.int(9)}` };
  if (roll < 58) return { kind: "delete", object: deployment() };
  if (roll < 68) return setAct(random);
  if (roll < 75) return { kind: "apply", object: workload("Job", `job-${random.int(anywhere)}`, random) };
  if (roll < 80) return { kind: "apply", object: barePod(`pod-${random.int(anywhere)}`, random) };
  if (roll < 90) return { kind: "apply", object: budget(random.pick([...apps, "db"]), random) };
  if (roll < 94) return { kind: "delete", object: budget(app, random) };
  return { kind: "delete-pod", at: random.int(anywhere) };
}

function setAct(random: Random): Action {
  const object: KubeObject = chance(random, 0.5)
    ? workload("StatefulSet", "db", random)
    : workload("DaemonSet", random.pick(["agent", "logs"]), random);
  return { kind: chance(random, 0.75) ? "apply" : "delete", object };
}

function poolAct(random: Random, gates: Gates): Action {
  const name = random.pick(pools);
  const roll = random.int(100);
  if (roll < 60) return { kind: "apply", object: pool(name, random) };
  if (roll < 75 && gates.StaticCapacity) return staticAct(random);
  if (roll < 85) return { kind: "delete", object: pool(name, random) };
  return { kind: chance(random, 0.4) ? "delete" : "apply", object: nodeClass };
}

function staticAct(random: Random): Action {
  const object = pool("fixed", random, { replicas: random.int(5) });
  return { kind: chance(random, 0.85) ? "apply" : "delete", object };
}

function extraAct(random: Random, { NodeOverlay, CapacityBuffer, StaticCapacity }: Gates): Action {
  const kinds = [
    ...(NodeOverlay ? ["overlay"] : []),
    ...(CapacityBuffer ? ["buffer"] : []),
    ...(StaticCapacity ? ["static"] : []),
  ];
  if (kinds.length === 0) return workloadAct(random);
  const kind = random.pick(kinds);
  if (kind === "static") return staticAct(random);
  const object =
    kind === "overlay" ? overlay(random.pick(["dear", "cheap"]), random) : buffer("room", random.pick(apps), random);
  return { kind: chance(random, 0.75) ? "apply" : "delete", object };
}

function machineAct(random: Random): Action {
  const at = random.int(anywhere);
  const roll = random.int(100);
  if (roll < 15) return { kind: "delete-node", at };
  if (roll < 24) return { kind: "delete-claim", at };
  if (roll < 32) return { kind: "delete-newest-claim", afterMs: random.int(3_000) };
  if (roll < 50) return { kind: "kubelet", at, health: random.pick(kubeletHealths) };
  if (roll < 62) return { kind: "vanish", at };
  if (roll < 70) return { kind: "interrupt", at };
  if (roll < 76) return { kind: "notify", at, notice: random.pick(interruptionKinds) };
  if (roll < 92) return { kind: "stock", pattern: pattern(random), count: random.int(4) };
  return { kind: "price", pattern: pattern(random), usdPerHour: random.next() };
}

function pattern(random: Random): OfferingPattern {
  return random.pick([
    {},
    { capacityType: "spot" },
    { capacityType: "on-demand" },
    { zone: "test-zone-a" },
    { zone: "test-zone-b", capacityType: "spot" },
    { instanceType: "c-1x-amd64-linux" },
  ] as readonly OfferingPattern[]);
}
