import { combinedInstanceSource } from "../../src/cloud/combined-instance-source.ts";
import { defaultInstance, InstanceList } from "../../src/cloud/instance-source.ts";
import { InProcessClient } from "../../src/control-plane/in-process-client.ts";
import { isInternalFailure } from "../../src/control-plane/simulated-cluster.ts";
import { type LoggedLine, loggerTo } from "../../src/util/logger.ts";
import { Random } from "../../src/util/random.ts";
import { VirtualClock } from "../../src/util/virtual-clock.ts";
import { claim, foreignClass } from "../controllers/pool-objects.ts";
import { startAt } from "../world/api-world.ts";
import { obligationsOf } from "../world/progress/obligations.ts";
import { Progress } from "../world/progress/progress.ts";
import { testWorld } from "../world/test-world.ts";
import { CallChecks } from "./call-checks.ts";
import { ClusterRecord } from "./cluster-record.ts";
import { DisruptionChecks } from "./disruption-checks.ts";
import { nodeClass } from "./objects.ts";
import { Operators } from "./operators.ts";
import type { ActionContext } from "./perform-action.ts";
import { fuzzInstanceTypes } from "./process-cloud.ts";
import { ReplacementChecks } from "./replacement-checks.ts";
import type { Story } from "./story.ts";

const unmanagedNodes = 2;
/** A leader that died is replaced when its lease has run out. (03 §6.5) */
const handoverMs = 20_000;
export const foreignClaim = "foreign";

/** What a run has to work with, and what it finds. */
export type FuzzWorld = Awaited<ReturnType<typeof fuzzWorld>>;

/** A whole cluster in this process on the virtual clock: loops, kubelets, cloud, operators. */
export async function fuzzWorld(story: Story) {
  const kwokTypes = fuzzInstanceTypes();
  const complaints: string[] = [];
  const faults = new Map<string, number>();
  const onFault = (fault: string) => void faults.set(fault, (faults.get(fault) ?? 0) + 1);
  const seed = `fuzz-world-${story.seed}`;
  const clock = new VirtualClock({ startAt, shuffle: new Random(seed).fork("ties") });
  const now = () => clock.now();
  const record = new ClusterRecord({ now });
  const world = await testWorld({
    clock,
    seed,
    fieldManager: "people",
    namespaces: ["karpenter"],
    journal: record,
    simulation: {
      faults: story.faults.cloud,
      ...(story.delivery.joinsAtOnce && { bootMs: [0, 0], readyMs: [0, 0] }),
    },
    onCloudCall: (entry) => {
      if (entry.fault !== undefined) onFault(`cloud ${entry.fault}`);
      record.recordCloudCall(entry);
    },
  });
  const { api, client, cloud, random } = world;
  const complain = (what: string) => void complaints.push(`${new Date(now()).toISOString()} ${what}`);
  await world.create(nodeClass, claim(foreignClaim, { nodeClassRef: foreignClass }));
  const launched = new Set<string>();
  cloud.subscribe(({ id }) => launched.add(id));
  const plain = Array.from({ length: unmanagedNodes }, (_, at) =>
    defaultInstance(at + 1, { launchedAt: startAt, cpu: "2" }),
  );
  const instances = combinedInstanceSource(new InstanceList(plain), cloud);
  const cluster = world.startCluster({
    instances,
    onFailure: (failure) => {
      if (isInternalFailure(failure)) complain(`controller ${failure.controller}: ${String(failure.error)}`);
    },
  });
  const lines: (LoggedLine & { readonly at: number })[] = [];
  const observed = { record, cloud, now, complain };
  const disruption = new DisruptionChecks(observed);
  const replacements = new ReplacementChecks({ ...observed, kwokTypes, hasOverlays: story.gates.NodeOverlay });
  const log = loggerTo((line) => {
    lines.push({ ...line, at: now() });
    replacements.onLog(line);
    const bug = bugIn(line);
    if (bug !== undefined) complain(`log: ${line.message}: ${bug}`);
  });
  const checks = new CallChecks(observed);
  const server = new InProcessClient(api, { fieldManager: "karpenter" });
  const { nodeClasses, repairPolicies } = world.provider;
  const { gates } = story;
  const progress = new Progress({
    clock,
    owed: () => obligationsOf({ objects: record, cloud, nodeClasses, repairPolicies, gates, now: now() }),
    complain,
  });
  if (!story.isCalm) progress.excuse(Number.POSITIVE_INFINITY);
  record.onChange(() => progress.onChange());
  const operators = new Operators({
    ...{ story, client: server, cloud, kwokTypes, clock, random, checks, log, onFault },
    onKill: (ms) => progress.excuse(ms + handoverMs),
  });
  const context: ActionContext = { client, cloud, clock, checks, operators, replacements, shortages: [] };
  return {
    clock,
    startedAt: startAt,
    record,
    cloud,
    /** Machines there ever were. */
    launched,
    checks,
    disruption,
    replacements,
    operators,
    progress,
    context,
    complaints,
    complain,
    faults,
    lines,
    /** For the judge: it knows no shortages. */
    provider: world.providerFor(client, "judge", { kwokTypes }),
    close: async () => {
      progress.stop();
      const ended = Promise.all([operators.stop(), cluster.stop()]);
      let isOver = false;
      void ended.then(() => {
        isOver = true;
      });
      for (let turn = 0; !isOver && turn < 120; turn++) await clock.advance(1_000);
      if (!isOver) complain("does not stop");
    },
  };
}

/** An error that means that our code is wrong. */
function bugIn({ message, values, level }: LoggedLine): string | undefined {
  if (level !== "error") return undefined;
  const bug = bugAmong(values["error"]);
  if (bug !== undefined) return bug.stack ?? String(bug);
  const grave = [
    "controller ended",
    "handling a watch event failed",
    "skipping an object that cannot be decoded",
    "leader election failed",
  ];
  return grave.includes(message) ? String(values["error"]) : undefined;
}

const bugs = [TypeError, RangeError, ReferenceError, SyntaxError];

function bugAmong(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  if (bugs.some((kind) => error instanceof kind)) return error;
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  for (const one of [error.cause, ...inner]) {
    const found = bugAmong(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
