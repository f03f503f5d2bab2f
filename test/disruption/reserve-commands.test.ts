import { describe, expect, it } from "vitest";
import { annotations, labels } from "../../src/api/labels.ts";
import { candidatesAmong } from "../../src/core/disruption/candidate.ts";
import type { DisruptionCommand } from "../../src/core/disruption/command.ts";
import { consolidate } from "../../src/core/disruption/consolidate.ts";
import { withReserved } from "../../src/core/disruption/reserve-commands.ts";
import { sharedSimulator } from "../../src/core/disruption/shared-simulator.ts";
import type { DisruptionSnapshot } from "../../src/core/disruption/snapshot.ts";
import { validateCommand } from "../../src/core/disruption/validation.ts";
import { runSteps } from "../../src/util/steps.ts";
import { cluster, machine, pool } from "./cluster.ts";

const simulatorFor = (snapshot: DisruptionSnapshot) => sharedSimulator(snapshot, { placesOwnPodsFirst: true });

/** Commands for these sets of nodes, each in the cluster that those before it leave. */
function commandsFor(sets: readonly (readonly string[])[], snapshot: DisruptionSnapshot): readonly DisruptionCommand[] {
  const simulator = simulatorFor(snapshot);
  return sets.map((names) => {
    const candidates = candidatesAmong(new Set(names), snapshot, "graceful");
    const input = { snapshot, simulator, totals: new Map() };
    const result = runSteps(consolidate("multi-node-consolidation", candidates, input));
    if (result.kind === "none") throw new Error(`${names} stay: ${result.cause.code}`);
    if (simulator.keep !== undefined) runSteps(simulator.keep(candidates, { isConsolidation: true }));
    return result.command;
  });
}

/** Whether each command holds while those before it wait. */
function outcomesOf(commands: readonly DisruptionCommand[], snapshot: DisruptionSnapshot): readonly string[] {
  return commands.map((command, at) => {
    const reserved = withReserved(snapshot, commands.slice(0, at));
    return runSteps(validateCommand(command, reserved, simulatorFor(reserved))).kind;
  });
}

/** Five of its eight cpus are taken for good. */
const full = (name: string, zone: string) =>
  machine(name, { zone, pods: [{ cpu: "5", annotations: { [annotations.doNotDisrupt]: "true" } }] });

describe("03 §10.2-9 commands that wait", () => {
  it("03 §10.2-9 their pods need room where they were planned, whatever their size", () => {
    const onlyInA = { nodeSelector: { [labels.zone]: "a" } };
    const snapshot = cluster([
      pool(),
      full("m1", "a"),
      full("m2", "b"),
      machine("n1", { type: "cpu-2", pods: [{ cpu: "1" }] }),
      machine("n2", { type: "cpu-4", pods: [{ cpu: "3" }] }),
      machine("n3", { type: "cpu-4", pods: [{ cpu: "2", spec: onlyInA }] }),
    ]);
    // Placed together, the largest first, n2's pod would take all the room of m1, which n3's pod needs.
    const commands = commandsFor([["n1"], ["n2"], ["n3"]], snapshot);
    const planned = commands.map(({ placements }) => placements.map(({ node }) => node));
    expect(planned).toEqual([["m1"], ["m2"], ["m1"]]);
    expect(outcomesOf(commands, snapshot)).toEqual(["valid", "valid", "valid"]);
  });

  it("02:X-10 topology counts pods of a replacement where that will be, not where they are", () => {
    const spread = {
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: labels.zone,
          whenUnsatisfiable: "DoNotSchedule",
          labelSelector: { matchLabels: { app: "web" } },
        },
      ],
    };
    const snapshot = cluster([
      pool(),
      machine("n1", { type: "cpu-16", zone: "a", pods: [{ cpu: "4", spec: spread }] }),
      machine("n2", { type: "cpu-16", zone: "a", pods: [{ cpu: "4", spec: spread }] }),
      machine("n3", { type: "cpu-4", zone: "c", pods: [{ cpu: "4", spec: spread }] }),
    ]);
    const [command] = commandsFor([["n1"]], snapshot);
    const zoneOf = ({ cluster: { boundPods, nodesByName } }: DisruptionSnapshot) => {
      const nodeName = boundPods.find(({ metadata }) => metadata.name === "n1-0")?.spec.nodeName ?? "";
      return nodesByName.get(nodeName)?.labels[labels.zone];
    };
    expect(zoneOf(snapshot)).toBe("a");
    expect(command?.replacements.map(({ requirements }) => requirements.get(labels.zone).singleValue)).toEqual(["b"]);
    expect(zoneOf(withReserved(snapshot, [command as DisruptionCommand]))).toBe("b");
  });
});
