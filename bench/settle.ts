import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import type { NodeClaim } from "../src/api/kinds/node-claim.ts";
import type { Pod } from "../src/api/kubernetes/pod.ts";
import type { KubeObject } from "../src/api/object.ts";
import { defaultSettings } from "../src/controllers/settings.ts";
import { disruptionModes } from "../src/core/disruption/snapshot.ts";
import { podRequests, QuantityReader } from "../src/core/pod-requests.ts";
import { builtInTypes, karpenterTypes } from "../src/kube/resources.ts";
import { kwokClass } from "../test/stories/manifests.ts";
import { interceptCalls } from "../test/world/intercept-calls.ts";
import { testWorld } from "../test/world/test-world.ts";
import { createObjects, nodesAndPrice } from "./cluster-figures.ts";
import { deploymentNamed, driftPatch, type SettleStep, settlePhases } from "./settle-steps.ts";
import { onKwokPhase } from "./workloads.ts";

/** `npm run bench -- settle`: how long the consolidation and drift phases take until nothing changes, on the virtual clock. */

const { values: options } = parseArgs({
  allowPositionals: true,
  options: {
    /** Names of phases, with commas between. */
    only: { type: "string", default: Object.keys(settlePhases).join(",") },
    mode: { type: "string", default: "default" },
  },
});
const disruptionMode = disruptionModes.find((one) => one === options.mode) ?? "default";

/** Nothing changed for so long: longer than a node waits to be consolidatable, a search and its validation. */
const quietSeconds = 120;
const pollSeconds = 5;
/** Of a resource alone. */
const usdPerCpu = 0.025;
const usdPerGb = 0.001;

type World = Awaited<ReturnType<typeof phaseWorld>>;

async function phaseWorld() {
  let evictions = 0;
  const world = await testWorld({ seed: "settle" });
  const client = interceptCalls(world.client, async ({ verb, subresource }, proceed) => {
    const answer = await proceed();
    if (verb === "create" && subresource === "eviction") evictions++;
    return answer;
  });
  world.startCluster();
  world.startOperator("operator", { client, settings: { ...defaultSettings, disruptionMode } });
  return { ...world, evictions: () => evictions };
}

const claimsOf = (world: World) => world.list<KubeObject & NodeClaim>(karpenterTypes.NodeClaim);

/** Minutes until the last change, once nothing has changed for a while and every pod runs. */
async function minutesUntilQuiet(world: World, mostMinutes: number): Promise<number> {
  const startedAt = world.clock.now();
  let changedAt = startedAt;
  let before = "";
  while (world.clock.now() - startedAt < mostMinutes * 60_000) {
    const now = JSON.stringify(
      (await claimsOf(world)).map(({ metadata }) => [metadata.uid, metadata.deletionTimestamp]),
    );
    if (now !== before || !(await areAllBound(world))) changedAt = world.clock.now();
    before = now;
    if (world.clock.now() - changedAt >= quietSeconds * 1_000) return (changedAt - startedAt) / 60_000;
    await world.pass(pollSeconds);
  }
  return Number.POSITIVE_INFINITY;
}

async function areAllBound(world: World): Promise<boolean> {
  const { items } = await world.client.list(builtInTypes.Pod, { fieldSelector: "status.phase!=Running", limit: 1 });
  return items.length === 0;
}

async function priceOverBound(world: World): Promise<{ readonly nodes: number; readonly ratio: number }> {
  const { nodes, price } = await nodesAndPrice(world.client);
  const reader = new QuantityReader();
  let bound = 0;
  for (const pod of await world.list<KubeObject & Pod>(builtInTypes.Pod)) {
    const { cpu, memory } = podRequests(pod, reader);
    bound += usdPerCpu * (cpu?.toNumber() ?? 0) + (usdPerGb * (memory?.toNumber() ?? 0)) / 1e9;
  }
  return { nodes, ratio: price / bound };
}

async function perform({ replicas, isDrift }: SettleStep, world: World): Promise<void> {
  for (const [name, count] of Object.entries(replicas)) {
    const key = { name, namespace: "default" };
    if ((await world.get(builtInTypes.Deployment, name, "default")) === undefined)
      await createObjects(world.client, [deploymentNamed(name)]);
    await world.client.patch(builtInTypes.Deployment, key, { kind: "merge", body: { spec: { replicas: count } } });
  }
  if (isDrift)
    await world.client.patch(karpenterTypes.NodePool, { name: "default" }, { kind: "merge", body: driftPatch });
}

async function measure(name: string): Promise<string> {
  const found = settlePhases[name];
  if (found === undefined)
    throw new Error(`no phase is called ${name}; known: ${Object.keys(settlePhases).join(", ")}`);
  const startedAt = performance.now();
  const cpuAt = process.cpuUsage();
  const world = await phaseWorld();
  await createObjects(world.client, [kwokClass as KubeObject, ...onKwokPhase(found.objects)]);
  const out = await minutesUntilQuiet(world, 60);
  const before = await priceOverBound(world);
  let settle = 0;
  let removed = 0;
  const evictionsBefore = world.evictions();
  for (const step of found.steps) {
    const uids = new Set((await claimsOf(world)).map(({ metadata }) => metadata.uid));
    await perform(step, world);
    settle = await minutesUntilQuiet(world, 2 * found.limit);
    for (const { metadata } of await claimsOf(world)) uids.delete(metadata.uid);
    removed += uids.size;
  }
  const after = await priceOverBound(world);
  const evicted = world.evictions() - evictionsBefore;
  const cells = [
    name,
    out.toFixed(1),
    settle.toFixed(1),
    `${found.limit / 4}`,
    settle <= found.limit / 4 ? "ok" : "MISS",
    `${before.nodes} -> ${after.nodes}`,
    `${before.ratio.toFixed(3)} -> ${after.ratio.toFixed(3)}`,
    String(removed),
    (evicted / Math.max(1, removed)).toFixed(1),
    ((performance.now() - startedAt) / 1_000).toFixed(0),
    (process.cpuUsage(cpuAt).user / 1e6).toFixed(0),
  ];
  await world.stop();
  return `| ${cells.join(" | ")} |`;
}

const head = [
  ...["phase", "scale-out min", "settled min", "bar", "", "nodes", "price over bound", "nodes removed"],
  ...["pods evicted a node", "real s", "CPU s"],
];
console.log(
  `mode ${disruptionMode}, load ${loadavg()[0]?.toFixed(1)}\n| ${head.join(" | ")} |\n|${"---|".repeat(head.length)}`,
);
for (const name of options.only.split(",")) console.log(await measure(name));
