import { describe, expect, it } from "vitest";
import type { PlannedNode } from "../scheduling/decision.ts";
import type { DisruptionCandidate } from "./candidate.ts";
import { type CommandParts, disruptionCommand } from "./command.ts";
import { commandText, nodeCommandText } from "./command-text.ts";

const candidate = (name: string, price: number, pool = "a") =>
  ({ name, price, pool: { name: pool }, reschedulablePods: [] }) as unknown as DisruptionCandidate;
const node = (price: number) => ({ price, pods: [] }) as unknown as PlannedNode;
const command = (parts: CommandParts) => disruptionCommand("multi-node-consolidation", parts);

describe("commands", () => {
  it("03 §6.3 in one line", () => {
    const two = [candidate("n1", 1), candidate("n2", 0.5, "b")];
    expect(commandText(command({ candidates: two }), "id")).toBe(
      "Underutilized/id: delete: nodepools=[a,b]: [n1, n2] (savings: $1.50)",
    );
    const replaced = command({ candidates: [candidate("n1", 1)], replacements: [node(0.25)] });
    expect(commandText(replaced, "id")).toBe(
      "Underutilized/id: replace: nodepools=[a]: [n1] -> [1 replacement] (savings: $0.75)",
    );
    const several = command({ candidates: [candidate("n1", 1)], replacements: [node(0.25), node(0.25)] });
    expect(commandText(several, "id")).toContain("-> [2 replacements] (savings: $0.50)");
  });

  it("03 §6.3 for one of their nodes", () => {
    const [first, second] = [candidate("n1", 1), candidate("n2", 1)] as const;
    expect(nodeCommandText(command({ candidates: [first] }), first)).toBe("delete: [n1] (savings: $1.00)");
    expect(nodeCommandText(command({ candidates: [first, second], replacements: [node(1)] }), second)).toBe(
      "replace: [n2] (part of 2-node consolidation) (savings: $1.00)",
    );
  });

  it("03:B-2 a replacement that nothing can launch counts as free", () => {
    const unlaunchable = command({ candidates: [candidate("n1", 1)], replacements: [node(Number.POSITIVE_INFINITY)] });
    expect(unlaunchable.savings).toBe(1);
  });
});
