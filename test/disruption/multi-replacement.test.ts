import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { labels } from "../../src/api/labels.ts";
import type { DisruptionCommand } from "../../src/core/disruption/command.ts";
import { movesOf } from "../../src/core/disruption/command.ts";
import { plainSimulator } from "../../src/core/disruption/plain-simulator.ts";
import { worstLaunchPrice } from "../../src/core/disruption/price-filters.ts";
import type { DisruptionSnapshot } from "../../src/core/disruption/snapshot.ts";
import { validateCommand } from "../../src/core/disruption/validation.ts";
import { runSteps } from "../../src/util/steps.ts";
import { instanceType } from "../builders/instance-type.ts";
import { runs } from "../runs.ts";
import {
  ask,
  type ClusterFacts,
  cluster,
  commandTexts,
  type MachineFacts,
  machine,
  type PoolFacts,
  pool,
  verdictOf,
} from "./cluster.ts";

const single = "single-node-consolidation";
const multi = "multi-node-consolidation";

/** Nodes of the old type have four cpus for two dollars; new ones half of that. The pool launches no old ones. */
const types = [
  instanceType("cpu-2").cpu(2),
  instanceType("cpu-4").cpu(4),
  instanceType("old").cpu(4).price(2),
  instanceType("huge").cpu(16).price(5),
];
const on = { types, allowsMultiReplacement: true };
const noOldTypes = { key: labels.instanceType, operator: "NotIn", values: ["old", "huge"] };
const newPool = (facts: PoolFacts = {}) =>
  pool({ ...facts, requirements: [noOldTypes, ...(facts.requirements ?? [])] });
const olds = (count: number, facts: MachineFacts = {}) =>
  Array.from({ length: count }, (_, index) =>
    machine(`n${index + 1}`, { type: "old", pods: [{ cpu: "3" }], ...facts }),
  );

function several(objects: Parameters<typeof cluster>[0], facts: ClusterFacts = {}) {
  return ask(cluster(objects, { ...on, ...facts }), multi);
}

describe("03:D-46b several nodes for several", () => {
  it("03:D-46 without the feature gate, or in mode upstream, nothing is done", () => {
    for (const facts of [{ allowsMultiReplacement: false }, { mode: "upstream" as const }]) {
      const proposal = several([newPool(), ...olds(2)], facts);
      expect(proposal.commands).toEqual([]);
      expect(verdictOf(proposal, "n1")).toMatchObject({ tried: [{ cause: { code: "needs-more-nodes", savings: 2 } }] });
    }
  });

  it("03:D-46b are replaced together when the new ones cost less", () => {
    const proposal = several([newPool(), ...olds(3)]);
    expect(commandTexts(proposal)).toEqual(["replace n1,n2,n3 -> cpu-4 cpu-4 cpu-4"]);
    expect(proposal.commands[0]?.savings).toBe(3);
  });

  it("03:D-46b one node may become several smaller ones", () => {
    const one = machine("n1", { type: "huge", pods: [{ cpu: "3" }, { cpu: "3" }, { cpu: "3" }] });
    const proposal = ask(cluster([newPool(), one], on), single);
    expect(commandTexts(proposal)).toEqual(["replace n1 -> cpu-4 cpu-4 cpu-4"]);
    expect(proposal.commands[0]?.savings).toBe(2);
  });

  it("03:D-46b not at the same price", () => {
    const equal = [...types.slice(0, 3), instanceType("huge").cpu(16).price(3)];
    const one = machine("n1", { type: "huge", pods: [{ cpu: "3" }, { cpu: "3" }, { cpu: "3" }] });
    const proposal = ask(cluster([newPool(), one], { ...on, types: equal }), single);
    expect(proposal.commands).toEqual([]);
    expect(verdictOf(proposal, "n1")).toMatchObject({ code: "needs-more-nodes", savings: 0 });
  });

  it("03:D-46b 02:L-34 the dearest offering of each counts", () => {
    const zoned = (price: number) => instanceType("cpu-4").cpu(4).price(1).priceIn("c", price, "on-demand");
    const withZoned = (price: number) => ({ types: [zoned(price), ...types.slice(2)] });
    expect(commandTexts(several([newPool(), ...olds(2)], withZoned(1.9)))).toEqual(["replace n1,n2 -> cpu-4 cpu-4"]);
    expect(several([newPool(), ...olds(2)], withZoned(2)).commands).toEqual([]);
  });

  it("03:D-46b every replacement has a choice of types, dearest still cheaper together", () => {
    const many = [0, 1, 2, 3, 4, 5].map((step) =>
      instanceType(`t-${step}`)
        .cpu(4)
        .price(1 + step / 5),
    );
    const [command] = several([newPool(), ...olds(2)], { types: [...many, ...types.slice(2)] }).commands;
    expect(command?.replacements.map(({ instanceTypes }) => instanceTypes.map(({ name }) => name))).toEqual([
      ["t-0", "t-1", "t-2", "t-3", "t-4"],
      ["t-0", "t-1", "t-2", "t-3", "t-4"],
    ]);
  });

  it("03:D-46b minValues of each replacement hold", () => {
    const flexible = (minValues: number) =>
      newPool({ requirements: [{ key: labels.instanceType, operator: "Exists", minValues }] });
    const many = [1, 1.5, 2.5].map((price) => instanceType(`t-${price}`).cpu(4).price(price));
    const facts = { types: [...many, ...types.slice(2)] };
    expect(commandTexts(several([flexible(2), ...olds(2)], facts))).toEqual(["replace n1,n2 -> t-1|t-1.5 t-1|t-1.5"]);
    expect(several([flexible(3), ...olds(2)], facts).commands).toEqual([]);
  });

  it("03:D-46b 03:D-48 a replacement that may be spot becomes spot", () => {
    const [command] = several([newPool({ capacityTypes: ["spot", "on-demand"] }), ...olds(2)]).commands;
    expect(command?.replacements.map(({ requirements }) => requirements.get(labels.capacityType).singleValue)).toEqual([
      "spot",
      "spot",
    ]);
    expect(command?.savings).toBeCloseTo(2 * (2 - 0.7));
  });

  it("03:D-46b 03:D-47 spot for spot needs its own gate", () => {
    const spot = [newPool({ capacityTypes: ["spot"] }), ...olds(2, { capacityType: "spot" })];
    expect(verdictOf(several(spot), "n1")).toMatchObject({ tried: [{ cause: { code: "spot-to-spot-disabled" } }] });
    expect(commandTexts(several(spot, { allowsSpotToSpot: true }))).toEqual(["replace n1,n2 -> cpu-4 cpu-4"]);
  });

  it("03:D-46b a Balanced pool weighs the saving", () => {
    const balanced = newPool({ disruption: { consolidationPolicy: "Balanced" } });
    const barely = [instanceType("cpu-4").cpu(4).price(1.9), ...types.slice(2)];
    expect(several([balanced, ...olds(2)]).commands).toHaveLength(1);
    expect(several([balanced, ...olds(2)], { types: barely }).commands).toEqual([]);
  });

  it("03:D-46b nodes of one type exchange pods", () => {
    const eight = [instanceType("cpu-8").cpu(8).memory("32Gi")];
    const three = Array.from({ length: 3 }, (_, index) =>
      machine(`n${index + 1}`, { pods: [{ cpu: "4" }, { cpu: "1" }] }),
    );
    expect(several([pool(), ...three], { types: eight, allowsMultiReplacement: false }).commands).toEqual([]);
    expect(commandTexts(several([pool(), ...three], { types: eight }))).toEqual(["replace n2,n3 -> cpu-8"]);
  });

  it("03:D-46b a node that would come back as it was stays", () => {
    const eight = [instanceType("cpu-8").cpu(8).memory("32Gi")];
    const three = Array.from({ length: 3 }, (_, index) =>
      machine(`n${index + 1}`, { pods: [{ cpu: "4" }, { cpu: "1" }] }),
    );
    const full = machine("full", { pods: [{ cpu: "8" }] });
    expect(commandTexts(several([pool(), full, ...three], { types: eight }))).toEqual(["replace n2,n3 -> cpu-8"]);
  });
});

describe("03:D-63 validation of several replacements", () => {
  const found = (): DisruptionCommand => {
    const [command] = several([newPool(), ...olds(2)]).commands;
    if (command === undefined) throw new Error("there is no command to validate");
    return command;
  };
  const later = (objects: Parameters<typeof cluster>[0], facts: ClusterFacts = {}): string => {
    const snapshot = cluster(objects, { ...on, ...facts });
    const outcome = runSteps(validateCommand(found(), snapshot, plainSimulator(snapshot)));
    return outcome.kind === "valid" ? "valid" : outcome.failure;
  };

  it("03:D-63 holds while nothing changes", () => {
    expect(later([newPool(), ...olds(2)])).toBe("valid");
  });

  it("03:D-63 not when fewer new nodes would do, or more are needed", () => {
    const roomier = [...types, instanceType("cpu-8").cpu(8)];
    const cheap = { key: labels.instanceType, operator: "In", values: ["cpu-8"] };
    expect(later([newPool({ requirements: [cheap] }), ...olds(2)], { types: roomier })).toBe("scheduling");
    expect(later([newPool(), ...olds(2, { pods: [{ cpu: "2" }, { cpu: "2" }] })])).toBe("valid");
    const [first] = olds(1);
    const more = machine("n2", { type: "old", pods: Array.from({ length: 4 }, () => ({ cpu: "1100m" })) });
    expect(later([newPool(), first ?? [], more], { types })).toBe("scheduling");
  });

  it("03:D-63 not when a type of one of them is no longer possible", () => {
    const gone = types.map((type) => (type.name === "cpu-4" ? instanceType("cpu-4b").cpu(4) : type));
    expect(later([newPool(), ...olds(2)], { types: gone })).toBe("scheduling");
  });

  it("03:D-62 not beyond the budget", () => {
    expect(later([newPool({ disruption: { budgets: [{ nodes: "1" }] } }), ...olds(2)])).toBe("budget");
  });
});

describe("03 §4.13 what holds of every command", () => {
  const cpus = ["200m", "500m", "1", "1900m", "2500m", "3"];
  const node = fc.record({
    type: fc.constantFrom("cpu-2", "cpu-4", "old", "huge"),
    capacityType: fc.constantFrom("on-demand", "spot"),
    pods: fc.array(fc.constantFrom(...cpus), { minLength: 1, maxLength: 4 }),
  });

  /** Nothing is lost, and however launches go, the price falls. */
  function expectSafe(command: DisruptionCommand, { labelPolicy }: DisruptionSnapshot): void {
    const { candidates, replacements } = command;
    const worst = replacements.map(({ instanceTypes, requirements }) =>
      Math.max(...instanceTypes.map((type) => worstLaunchPrice(type, requirements, labelPolicy))),
    );
    const sum = (prices: readonly number[]): number => prices.reduce((total, one) => total + one, 0);
    expect(sum(worst)).toBeLessThan(sum(candidates.map(({ price }) => price)));
    expect(command.savings).toBeGreaterThan(0);
    const going = new Set(candidates.map(({ name }) => name));
    for (const { to } of movesOf(command)) {
      expect(to).toBeDefined();
      expect(going).not.toContain(to);
    }
  }

  it("03:D-46b the price falls however launches go, every pod has a place, and the command is valid", () => {
    let replacedBySeveral = 0;
    fc.assert(
      fc.property(
        fc.array(node, { minLength: 2, maxLength: 4 }),
        fc.constantFrom("plain" as const, "polished" as const),
        (nodes, packing) => {
          const objects = nodes.map(({ type, capacityType, pods }, index) =>
            machine(`n${index}`, { type, capacityType, pods: pods.map((cpu) => ({ cpu })) }),
          );
          const anyPool = newPool({ capacityTypes: ["spot", "on-demand"] });
          const snapshot = cluster([anyPool, ...objects], { ...on, packing, allowsSpotToSpot: true });
          for (const method of [multi, single] as const) {
            for (const command of ask(snapshot, method).commands) {
              expectSafe(command, snapshot);
              if (command.replacements.length > 1) replacedBySeveral++;
              const outcome = runSteps(validateCommand(command, snapshot, plainSimulator(snapshot)));
              expect(outcome.kind).toBe("valid");
            }
          }
        },
      ),
      { numRuns: runs(2_000) },
    );
    expect(replacedBySeveral).toBeGreaterThan(0);
  });
});
