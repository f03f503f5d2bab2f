import { expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import { ApiServer } from "../../src/control-plane/api/server.ts";
import { InProcessClient } from "../../src/control-plane/in-process-client.ts";
import { installCrds } from "../../src/control-plane/install-crds.ts";
import { type Controller, reconcileController, startControllers, triggerOn } from "../../src/kube/controller.ts";
import { builtInTypes } from "../../src/kube/resources.ts";
import { ControllerRun } from "../../src/operator/controller-run.ts";
import { ClusterState } from "../../src/state/cluster-state.ts";
import { clusterStateController } from "../../src/state/cluster-state-controller.ts";
import { whenAborted } from "../../src/util/abort.ts";
import { silentLogger } from "../../src/util/logger.ts";
import { Random } from "../../src/util/random.ts";
import { VirtualClock } from "../../src/util/virtual-clock.ts";

const node: KubeObject = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "n" },
  spec: { providerID: "sim://n" },
} as KubeObject;

async function setUp() {
  const clock = new VirtualClock({ startAt: Date.UTC(2026, 0, 1) });
  const random = new Random("controller-run");
  const api = new ApiServer({ clock, random: random.fork("api") });
  await installCrds(api, "all");
  return { clock, random, client: new InProcessClient(api), log: silentLogger };
}

/** Notes for each change of a Node whether cluster state has it. */
function watchingController(cluster: ClusterState, seen: (string | undefined)[]): Controller {
  return {
    name: "watching",
    kinds: [builtInTypes.Node],
    run: async ({ view }, signal) => {
      const stop = view(builtInTypes.Node).subscribe(({ object, old }) => {
        const name = (object ?? old).metadata.name ?? "";
        seen.push(cluster.nodeByName(name)?.node?.metadata.labels?.["step"]);
      });
      await whenAborted(signal);
      stop();
    },
  };
}

it("02:S-13 cluster state has every change before other controllers hear of it, whoever subscribed earlier", async () => {
  const { clock, random, client } = await setUp();
  const cluster = new ClusterState({ clock, servedNodeClasses: [], nominationMs: 20_000 });
  const seen: (string | undefined)[] = [];
  const controllers = [watchingController(cluster, seen), clusterStateController(cluster)];
  const running = startControllers({ client, clock, random, controllers });
  await clock.advance(1_000);
  await client.create(builtInTypes.Node, { ...node, metadata: { name: "n", labels: { step: "1" } } });
  const patch = { kind: "merge", body: { metadata: { labels: { step: "2" } } } } as const;
  await client.patch(builtInTypes.Node, { name: "n" }, patch);
  await client.delete(builtInTypes.Node, { name: "n" });
  await clock.advance(1_000);
  expect(seen).toEqual(["1", "2", undefined]);
  const stopped = running.stop();
  await clock.advance(60_000);
  await stopped;
});

it("03 §6.5 the state controller runs while the others wait to lead", async () => {
  const options = await setUp();
  const { clock, client } = options;
  const cluster = new ClusterState({ clock, servedNodeClasses: [], nominationMs: 20_000 });
  const seen: (string | undefined)[] = [];
  const run = new ControllerRun({
    ...options,
    stateController: clusterStateController(cluster),
    controllers: [watchingController(cluster, seen)],
  });
  run.watch();
  await client.create(builtInTypes.Node, node);
  await clock.advance(1_000);
  expect([cluster.nodeByName("n")?.node?.metadata.name, seen]).toEqual(["n", []]);
  run.startLeading();
  await clock.advance(1_000);
  expect(seen).toHaveLength(1);
  const stopped = run.stop();
  await clock.advance(60_000);
  await stopped;
});

it("a controller that is started again has forgotten what it remembered", async () => {
  const { clock, random, client } = await setUp();
  await client.create(builtInTypes.Node, node);
  const counts: number[] = [];
  const counting = reconcileController({
    name: "counting",
    triggers: [triggerOn(builtInTypes.Node, () => ["nodes"])],
    start: () => ({ reconciles: 0 }),
    reconcile: async (_key, _context, state) => {
      counts.push(++state.reconciles);
      return undefined;
    },
  });
  for (const label of ["a", "b"]) {
    const running = startControllers({ client, clock, random, controllers: [counting] });
    await clock.advance(1_000);
    await client.patch(builtInTypes.Node, { name: "n" }, { kind: "merge", body: { metadata: { labels: { label } } } });
    await clock.advance(1_000);
    const stopped = running.stop();
    await clock.advance(60_000);
    await stopped;
  }
  expect(counts).toEqual([1, 2, 1, 2]);
});
