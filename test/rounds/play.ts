import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import type { Node } from "../../src/api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../src/api/kubernetes/pod.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { defaultGates, defaultSettings } from "../../src/controllers/settings.ts";
import { isOwnedByDaemonSet } from "../../src/core/pod-predicates.ts";
import { completeObjects } from "../../src/core/scenario/complete-objects.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { kwokInstanceTypes } from "../../src/providers/kwok/catalogue.ts";
import { restoredInstances } from "../../src/providers/sim/restored-instances.ts";
import { type LogLine, recordingLog } from "../world/recording-log.ts";
import { type TestWorld, testWorld } from "../world/test-world.ts";
import { appOf, counted, nodeOfLabels, type Outcome, reasonOf } from "./outcome.ts";

/** What the sandbox has. */
const gates = { ...defaultGates, NodeOverlay: true, StaticCapacity: true, CapacityBuffer: true };

/**
 * As in most clouds, machines take longer than the ten seconds after which a pod that was refused is tried again. Those of
 * one round join together: the first to join would take pods of the others into the room of a buffer.
 */
const simulation = { latencyMs: [50, 50], bootMs: [25_000, 25_000] } as const;

const lookEverySeconds = 20;
/** Longer than a pod waits for its next round. */
const quietLooks = 3;
const maxLooks = 200;

/** What makes pods; everything else is there before them, as where files are applied in their order. */
const workloadKinds = ["Pod", "Deployment", "ReplicaSet", "StatefulSet", "Job", "CapacityBuffer"];

export interface PlayOptions {
  readonly seed: string;
  /** Of EC2NodeClasses. */
  readonly region?: string;
  /** How long after they joined machines become ready; none, unless given. */
  readonly readyMs?: number;
}

/** Plays an input in the simulated world until nothing changes any more. */
export async function playedOutcome(
  objects: readonly KubeObject[],
  { seed, region, readyMs = 0 }: PlayOptions,
): Promise<Outcome> {
  const lines: LogLine[] = [];
  const world = await testWorld({
    seed,
    simulation: { ...simulation, readyMs: [readyMs, readyMs] },
    provider: { region },
  });
  try {
    const others = objects.filter(({ kind }) => kind !== "NodeClaim" && kind !== "Node");
    const isWorkload = ({ kind }: KubeObject): boolean => workloadKinds.includes(kind);
    await world.create(...others.filter((one) => !isWorkload(one)).map(inDefaultNamespace));
    await createRunningNodes(world, objects);
    world.startCluster();
    world.startOperator("one", { settings: { ...defaultSettings, gates }, log: recordingLog(lines) });
    await world.pass(10);
    // One after the other, as kubectl does: pods arrive in the order of the file.
    for (const workload of others.filter(isWorkload)) {
      await world.create(inDefaultNamespace(workload));
      await world.pass(0.1);
    }
    await untilQuiet(world);
    return await outcomeOf(world, { given: objects, lines });
  } finally {
    await world.stop();
  }
}

const namespaced = [...workloadKinds, ...["DaemonSet", "PodTemplate", "PersistentVolumeClaim", "PodDisruptionBudget"]];

function inDefaultNamespace(object: KubeObject): KubeObject {
  return namespaced.includes(object.kind)
    ? { ...object, metadata: { namespace: "default", ...object.metadata } }
    : object;
}

/** Nodes of the input run already: they have their instances. */
async function createRunningNodes(world: TestWorld, objects: readonly KubeObject[]): Promise<void> {
  const given = objects.filter(({ kind }) => kind === "NodeClaim" || kind === "Node");
  if (given.length === 0) return;
  const types = kwokInstanceTypes();
  const completed = completeObjects(given, {
    typesFor: () => types,
    nowMs: world.clock.now(),
    defaultNodeClass: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
  });
  for (const object of completed) {
    await world.create(object);
    await world.status(object, object.status as object);
  }
  const ofKind = <T>(kind: string) => completed.filter((one) => one.kind === kind) as unknown as readonly T[];
  world.cloud.restore(restoredInstances({ nodes: ofKind<Node>("Node"), claims: ofKind<NodeClaim>("NodeClaim") }));
}

async function untilQuiet(world: TestWorld): Promise<void> {
  let before = "";
  let quiet = 0;
  for (let look = 0; look < maxLooks; look++) {
    await world.pass(lookEverySeconds);
    const now = await stateText(world);
    quiet = now === before ? quiet + 1 : 0;
    before = now;
    if (quiet === quietLooks) return;
  }
  throw new Error(`something still changes after ${(maxLooks * lookEverySeconds) / 60} minutes`);
}

/** Which claims there are and where pods run. */
async function stateText(world: TestWorld): Promise<string> {
  const claims = await world.list<KubeObject>(karpenterTypes.NodeClaim);
  const pods = await world.list<KubeObject & Pod>(builtInTypes.Pod);
  return JSON.stringify([
    claims.map(({ metadata }) => metadata.name),
    pods.map(({ metadata, spec }) => [metadata.name, spec.nodeName]),
  ]);
}

async function outcomeOf(
  world: TestWorld,
  { given, lines }: { readonly given: readonly KubeObject[]; readonly lines: readonly LogLine[] },
): Promise<Outcome> {
  const known = new Set(given.filter(({ kind }) => kind === "NodeClaim").map(({ metadata }) => metadata.name));
  const claims = await world.list<KubeObject & NodeClaim>(karpenterTypes.NodeClaim);
  const pods = await world.list<KubeObject & Pod>(builtInTypes.Pod);
  const waiting = pods.filter((pod) => (pod.spec.nodeName ?? "") === "" && !isOwnedByDaemonSet(pod));
  return {
    nodes: claims
      .filter(({ metadata }) => !known.has(metadata.name))
      .map(({ metadata }) => nodeOfLabels(metadata.labels)),
    refused: counted(
      waiting.map(({ metadata }) => `${appOf(metadata)}: ${reasonOf(lastRefusal(metadata.name ?? "", lines))}`),
    ),
  };
}

/** What the last round said about a pod. */
function lastRefusal(pod: string, lines: readonly LogLine[]): string {
  const about = lines.findLast((line) => (line["Pod"] as { readonly name?: string } | undefined)?.name === pod);
  return about === undefined ? "no round was asked" : String(about["error"] ?? about.message);
}
