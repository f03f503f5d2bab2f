import { afterEach, describe, expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/object.ts";
import type { DisruptionState } from "../../../src/controllers/disruption/disruption-state.ts";
import { currentSnapshot } from "../../../src/controllers/disruption/disruption-state.ts";
import { DriftBackOff } from "../../../src/controllers/disruption/drift-back-off.ts";
import { LastVerdicts } from "../../../src/controllers/disruption/last-verdicts.ts";
import { RecentMoves } from "../../../src/controllers/disruption/recent-moves.ts";
import { RunningCommands } from "../../../src/controllers/disruption/running-commands.ts";
import { SearchMemory } from "../../../src/controllers/disruption/search-memory.ts";
import { startDueCommands } from "../../../src/controllers/disruption/validate-waiting.ts";
import { WaitingCommands } from "../../../src/controllers/disruption/waiting-commands.ts";
import { type KarpenterContext, karpenterController } from "../../../src/controllers/karpenter-context.ts";
import { DisruptionPass } from "../../../src/core/disruption/disruption-pass.ts";
import type { DisruptionMethodName } from "../../../src/core/disruption/methods.ts";
import { controllerSearch } from "../../../src/core/disruption/next-commands.ts";
import { VerdictMemory } from "../../../src/core/disruption/verdict-memory.ts";
import type { KubeClient } from "../../../src/kube/client.ts";
import { builtInTypes, karpenterTypes } from "../../../src/kube/resources.ts";
import { runSteps } from "../../../src/util/steps.ts";
import { beforeWrites } from "../../world/intercept-calls.ts";
import { type DisruptionWorld, disruptionWorld, runningNode, runningPod } from "./disruption-world.ts";

let world: DisruptionWorld;
afterEach(() => world.stop());

/** A world in which no command is found or started unless the test asks for it. */
async function worldAtRest(wrapClient: (client: KubeClient) => KubeClient) {
  const contexts: KarpenterContext[] = [];
  const kinds = [
    karpenterTypes.NodePool,
    karpenterTypes.NodeClaim,
    builtInTypes.Node,
    builtInTypes.PodDisruptionBudget,
  ];
  world = await disruptionWorld({
    wrapClient,
    controllers: (dependencies) => [
      karpenterController(dependencies, {
        name: "test",
        triggers: [],
        kinds,
        initialKeys: ["once"],
        reconcile: async (_key, context) => {
          contexts.push(context);
          return undefined;
        },
      }),
    ],
  });
  const state: DisruptionState = {
    commands: new RunningCommands(),
    waiting: new WaitingCommands(),
    memory: new SearchMemory(),
    verdicts: new VerdictMemory(),
    driftBackOff: new DriftBackOff(),
    recentMoves: new RecentMoves(),
    lastVerdicts: new LastVerdicts(),
    seed: 1,
    chosenSearch: undefined,
  };
  return { state, context: contexts[0] as KarpenterContext };
}

/** The commands these methods find, all of them due. */
async function due(
  { state, context }: Awaited<ReturnType<typeof worldAtRest>>,
  methods: readonly DisruptionMethodName[],
) {
  const snapshot = await currentSnapshot(state, [], context);
  const options = { ...controllerSearch(snapshot), searchBudget: { mayContinue: () => true } };
  const commands = methods.flatMap(
    (method) => runSteps(new DisruptionPass(snapshot).propose(method, options)).commands,
  );
  state.waiting.add(commands, context.clock.now());
  return commands.map(({ candidates }) => candidates.map(({ name }) => name).join());
}

/** A pod is bound while the first command launches its replacement. */
const podArrives = (pod: () => object) => {
  let hasArrived = false;
  return beforeWrites(async ({ verb, type }) => {
    if (hasArrived || verb !== "create" || type.kind !== "NodeClaim") return;
    hasArrived = true;
    await world.create(pod() as KubeObject);
  });
};

describe("03 §4.11 commands that are due together", () => {
  it("03:D-29c an empty node that gets a pod while another command starts stays", async () => {
    const rest = await worldAtRest(podArrives(() => runningPod("late", "empty", "1")));
    await runningNode(world, "empty", { type: "c-2x-amd64-linux" });
    await runningNode(world, "n1", { pods: ["3"] });
    expect(await due(rest, ["single-node-consolidation", "emptiness"])).toEqual(["n1", "empty"]);
    expect(await startDueCommands(rest.state, rest.context)).toMatchObject({ failedMethod: "emptiness" });
    expect([await world.isTainted("n1"), await world.isTainted("empty")]).toEqual([true, false]);
  });

  it("03:D-64 a node that gets a protected pod while another command starts stays", async () => {
    const annotations = { "karpenter.sh/do-not-disrupt": "true" };
    const rest = await worldAtRest(podArrives(() => runningPod("late", second, "1", { annotations })));
    for (const name of ["n1", "n2"]) await runningNode(world, name, { pods: ["9"] });
    const [first = "", second = ""] = await due(rest, ["single-node-consolidation"]);
    expect([first, second].sort()).toEqual(["n1", "n2"]);
    const { failedMethod } = await startDueCommands(rest.state, rest.context);
    expect(failedMethod).toBe("single-node-consolidation");
    expect([await world.isTainted(first), await world.isTainted(second)]).toEqual([true, false]);
  });
});
