import { afterEach, describe, expect, it } from "vitest";
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

describe("03 §4.11 commands that are due together", () => {
  it("03:D-29c an empty node that gets a pod while another command starts stays", async () => {
    const { state, context } = await worldAtRest(
      beforeWrites(async ({ verb, type }) => {
        if (verb === "create" && type.kind === "NodeClaim") await world.create(runningPod("late", "empty", "1"));
      }),
    );
    await runningNode(world, "empty", { type: "c-2x-amd64-linux" });
    await runningNode(world, "n1", { pods: ["3"] });
    const snapshot = await currentSnapshot(state, [], context);
    const options = { ...controllerSearch(snapshot), searchBudget: { mayContinue: () => true } };
    const found = (method: DisruptionMethodName) =>
      runSteps(new DisruptionPass(snapshot).propose(method, options)).commands;
    const commands = [...found("single-node-consolidation"), ...found("emptiness")];
    expect(commands.map(({ candidates }) => candidates.map(({ name }) => name))).toEqual([["n1"], ["empty"]]);
    state.waiting.add(commands, context.clock.now());
    expect(await startDueCommands(state, context)).toMatchObject({ hasStarted: true, failedMethod: "emptiness" });
    expect([await world.isTainted("n1"), await world.isTainted("empty")]).toEqual([true, false]);
  });
});
