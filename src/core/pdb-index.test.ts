import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/runs.ts";
import type { Pod } from "../api/kubernetes/pod.ts";
import { PdbIndex } from "./pdb-index.ts";
import { compilePdb } from "./pod-predicates.ts";

const keys = fc.constantFrom("app", "tier");
const values = fc.constantFrom("a", "b");
const namespaces = fc.constantFrom("one", "two");
const labels = fc.dictionary(keys, values, { maxKeys: 2 });
const selector = fc.oneof(
  fc.constant(undefined),
  fc.record({ matchLabels: labels }),
  fc.record({
    matchExpressions: fc.array(
      fc.record({ key: keys, operator: fc.constantFrom("In", "NotIn"), values: fc.array(values, { minLength: 1 }) }),
      { maxLength: 2 },
    ),
  }),
);

describe("03:PDB-1 budgets that select a pod", () => {
  it("03:PDB-1 are those that a look at every budget finds, in the same order", () => {
    const budgets = fc.array(fc.record({ namespace: namespaces, selector }), { maxLength: 6 });
    fc.assert(
      fc.property(budgets, namespaces, labels, (specs, namespace, podLabels) => {
        const compiled = specs.map((spec, index) =>
          compilePdb({ metadata: { name: `b${index}`, namespace: spec.namespace }, spec: { selector: spec.selector } }),
        );
        const pod: Pod = { metadata: { name: "p", namespace, labels: podLabels }, spec: {} };
        const all = compiled.filter((one) => one.namespace === namespace && one.selector.matches(podLabels));
        expect(new PdbIndex(compiled).matching(pod)).toEqual(all);
      }),
      { numRuns: runs(10_000) },
    );
  });
});
