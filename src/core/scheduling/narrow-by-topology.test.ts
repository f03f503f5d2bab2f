import { describe, expect, it } from "vitest";
import { Bitset } from "../../util/bitset.ts";
import { compileSelector } from "../label-selector.ts";
import { Requirements } from "../requirements.ts";
import { narrowByTopology } from "./narrow-by-topology.ts";
import { type RequirementState, RequirementStates } from "./requirement-state.ts";
import { RequirementTable } from "./requirement-table.ts";
import { TopologyGroup } from "./topology/topology-group.ts";
import { TopologyNodeFilter } from "./topology/topology-node-filter.ts";
import type { Variant } from "./variants.ts";

const keys = Array.from({ length: 10 }, (_, index) => `key-${index}`);
const domains = Array.from({ length: 10 }, (_, index) => `value-${index}`);

/** Ten spread constraints with ten empty domains each: ten thousand million combinations. */
function tiedRules(
  accepts: (chosen: readonly string[]) => boolean,
  couldAccept: (chosen: readonly string[]) => boolean,
) {
  const table = new RequirementTable();
  const requirementStates = new RequirementStates({
    table,
    allowUndefined: new Set(keys),
    optionsFor: () => ({ columns: Bitset.empty(0) }),
  });
  const domainRules = keys.map((key) => {
    const group = new TopologyGroup(
      {
        kind: "spread",
        key,
        namespaces: new Set(["default"]),
        selector: compileSelector({}),
        maxSkew: 1,
        filter: TopologyNodeFilter.none,
      },
      table,
    );
    for (const domain of domains) group.register(domain);
    return { group, selectsSelf: true, podDomains: undefined };
  });
  /** The domains of the rules that have just one left. */
  const chosen = ({ requirements }: RequirementState): readonly string[] =>
    keys.flatMap((key) => (requirements.has(key) ? (requirements.get(key).singleValue ?? []) : []));
  let attempts = 0;
  const result = narrowByTopology(requirementStates.of(Requirements.of()), {
    variant: { domainRules } as unknown as Variant,
    requirementStates,
    accept: (state) => {
      attempts++;
      return accepts(chosen(state)) ? chosen(state) : undefined;
    },
    couldAccept: (state) => {
      attempts++;
      return couldAccept(chosen(state));
    },
  });
  return { result, attempts };
}

describe("narrowing by topology with tied domains", () => {
  it("02 §12.1-3 stops at once where no domain will do", () => {
    const { result, attempts } = tiedRules(
      () => false,
      () => false,
    );
    expect(result).toBeUndefined();
    expect(attempts).toBe(2);
  });

  it("02 §12.1-3 finds the one combination that will do without trying all of them", () => {
    const isLast = (chosen: readonly string[]) => chosen.every((domain) => domain === "value-9");
    const { result, attempts } = tiedRules(isLast, isLast);
    expect(result).toEqual(keys.map(() => "value-9"));
    expect(attempts).toBeLessThan(2 + 10 * 10 + 10);
  });

  it("02 §12.1-3 gives up after a number of attempts that grows with the sum of the ties, not their product", () => {
    const { result, attempts } = tiedRules(
      () => false,
      () => true,
    );
    expect(result).toBeUndefined();
    expect(attempts).toBeLessThan(2 + 10 * 10 + 256 + 10);
  });
});
