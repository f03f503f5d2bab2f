import { describe, expect, it } from "vitest";
import { annotations } from "../../src/api/labels.ts";
import type { DisruptionCommand } from "../../src/core/disruption/command.ts";
import { recentMove, recentMoveMs } from "../../src/core/disruption/recent-move.ts";
import type { RecentMove } from "../../src/core/disruption/snapshot.ts";
import { verdictText } from "../../src/core/disruption/verdict-text.ts";
import { ago, ask, cluster, codesOf, commandTexts, machine, now, pool, verdictOf } from "./cluster.ts";

const single = "single-node-consolidation";
const multi = "multi-node-consolidation";

describe("03:D-49a the least a consolidation has to save", () => {
  const asking = (value: string) => ({
    ...pool(),
    metadata: { name: "default", annotations: { [annotations.minSaving]: value } },
  });
  /** Replaced by a node of two cpus, a dollar and a half cheaper. */
  const oversized = machine("n1", { pods: [{ cpu: "1500m" }] });

  it.each([
    ["0", "replace n1 -> cpu-2|cpu-4"],
    ["1.5", "replace n1 -> cpu-2|cpu-4"],
    ["75%", "replace n1 -> cpu-2|cpu-4"],
    ["1.51", undefined],
    ["75.1%", undefined],
  ])("03:D-49a %s", (value, command) => {
    const proposal = ask(cluster([asking(value), oversized]), single);
    expect(commandTexts(proposal)).toEqual(command === undefined ? [] : [command]);
    if (command === undefined) expect(codesOf(proposal)).toEqual({ n1: "saving-too-small" });
  });

  it("03:D-49a says what is saved and what is asked for", () => {
    const verdict = verdictOf(ask(cluster([asking("2"), oversized]), single), "n1");
    expect(verdict).toMatchObject({ code: "saving-too-small", pool: "default", savings: 1.5, minimum: 2 });
    expect(verdict && verdictText(verdict)).toBe(
      "it would save $1.5000/hour, less than the $2.0000/hour that NodePool default asks for (karpenter.sh/consolidation-min-saving)",
    );
  });

  it.each(["", "a lot", "-1", "101%", "1e3", " 1"])("03:D-49a %j cannot be read and holds back", (value) => {
    const proposal = ask(cluster([asking(value), oversized]), single);
    expect(verdictOf(proposal, "n1")).toMatchObject({ code: "min-saving-invalid", pool: "default", value });
  });

  it("03:D-49a several nodes save together", () => {
    const nodes = ["a", "b", "c"].map((name) => machine(name, { type: "cpu-4", pods: [{ cpu: "2200m" }] }));
    expect(commandTexts(ask(cluster([asking("1"), ...nodes]), multi, { sweep: "several" }))).toEqual([
      "replace a,b,c -> cpu-8",
    ]);
    expect(commandTexts(ask(cluster([asking("1.1"), ...nodes]), multi, { sweep: "several" }))).toEqual([]);
  });

  it("03:D-49a empty nodes go whatever they save, and upstream does not know it", () => {
    expect(commandTexts(ask(cluster([asking("100"), machine("n1")]), "emptiness"))).toEqual(["delete n1"]);
    const upstream = cluster([asking("100"), oversized], { mode: "upstream" });
    expect(commandTexts(ask(upstream, single))).toEqual(["replace n1 -> cpu-2|cpu-4"]);
  });
});

describe("03:D-58a a consolidation that would undo a recent one", () => {
  const after = { claim: { metadata: { creationTimestamp: ago(5) } } };
  const replaceable = (facts: Parameters<typeof machine>[1] = {}) =>
    machine("n1", { pods: [{ cpu: "1500m" }], ...after, ...facts });
  const commandOf = (facts?: Parameters<typeof machine>[1]): DisruptionCommand =>
    ask(cluster([pool(), replaceable(facts)]), single).commands[0] as DisruptionCommand;
  const codeWith = (moves: readonly RecentMove[], facts?: Parameters<typeof machine>[1], more = {}) =>
    codesOf(ask({ ...cluster([pool(), replaceable(facts)]), ...more, recentMoves: moves }, single))["n1"];
  const tenMinutesAgo = now - 10 * 60_000;

  describe("of a node like one that went, with the same pods", () => {
    const move = recentMove(commandOf(), ["other"], tenMinutesAgo);

    it("03:D-58a is refused, and says until when", () => {
      const snapshot = { ...cluster([pool(), replaceable()]), recentMoves: [move] };
      const verdict = verdictOf(ask(snapshot, single), "n1");
      const untilMs = tenMinutesAgo + recentMoveMs;
      expect(verdict).toMatchObject({ code: "undoes-recent-move", movedAtMs: tenMinutesAgo, untilMs });
      expect(verdict && verdictText(verdict)).toBe(
        "it would undo what was done at 2026-01-15T11:50:00Z, and neither pods nor prices have changed since; it is not done again until 2026-01-15T12:50:00Z",
      );
    });

    it.each<[string, string | undefined]>([
      ["other pods", codeWith([move], { pods: [{ cpu: "1400m" }] })],
      ["fewer pods", codeWith([recentMove(commandOf({ pods: [{ cpu: "1" }, { cpu: "500m" }] }), [], tenMinutesAgo)])],
      ["another type", codeWith([recentMove(commandOf({ type: "cpu-16" }), [], tenMinutesAgo)])],
      ["another price", codeWith([{ ...move, gone: move.gone.map((one) => ({ ...one, price: one.price * 2 })) }])],
      ["a node that was there before", codeWith([move], { claim: { metadata: { creationTimestamp: ago(20) } } })],
      ["an hour later", codeWith([{ ...move, atMs: now - recentMoveMs }])],
      ["in mode upstream", codeWith([move], {}, { mode: "upstream" })],
    ])("03:D-58a but not with %s", (_, code) => {
      expect(code).toBe("chosen");
    });
  });

  describe("that replaces the replacement by what it replaced", () => {
    /** Two nodes of two cpus became n1, which would become one of two cpus. */
    const [first] = ask(
      cluster([pool(), machine("old", { type: "cpu-2", pods: [{ cpu: "1500m" }] })]),
      single,
    ).candidates;
    const turned = (facts: Partial<RecentMove> = {}): RecentMove => {
      const command = commandOf();
      const gone = recentMove({ ...command, candidates: first === undefined ? [] : [first] }, ["n1"], tenMinutesAgo);
      return { ...gone, ...facts };
    };

    it("03:D-58a is refused", () => {
      expect(codeWith([turned()])).toBe("undoes-recent-move");
    });

    it("03:D-58a but not with other pods, or if it was another claim", () => {
      expect(codeWith([turned()], { pods: [{ cpu: "1400m" }] })).toBe("chosen");
      expect(codeWith([turned({ came: [{ claim: "other", pods: "" }] })])).toBe("chosen");
    });
  });
});
