import { describe, expect, it } from "vitest";
import { parseJsonPath } from "./json-path.ts";

const object = {
  metadata: { labels: { "karpenter.sh/nodepool": "default", "it's": "odd" } },
  spec: { items: [{ name: "a", n: 1 }, { name: "b", n: 2 }, { name: "a" }], __proto__: undefined },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Drifted", status: "False" },
    ],
  },
};

describe("JSONPath of printer columns", () => {
  it.each([
    [".metadata.labels.karpenter\\.sh/nodepool", ["default"]],
    [".metadata.labels['karpenter\\.sh/nodepool']", ["default"]],
    [".metadata.labels['it\\'s']", ["odd"]],
    ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
    [".status.conditions[?(@.type=='Drifted')].status", ["False"]],
    ['.status.conditions[?(@.type!="Ready")].type', ["Drifted"]],
    [".spec.items[?(@.n==2)].name", ["b"]],
    [".spec.items[*].name", ["a", "b", "a"]],
    [".spec.items[1].name", ["b"]],
    [".spec.items[-1].name", ["a"]],
    [".spec.items[9].name", []],
    [".spec.constructor", []],
    [".nothing.here", []],
    ["{.spec.items[0].n}", [1]],
  ])("05 §3 follows %s", (path, found) => {
    expect(parseJsonPath(path)?.find(object)).toEqual(found);
  });

  it.each(["spec", ".spec[", ".a[?(@.b)]", ".a..b", ".a[x]"])("05 §3 does not pretend to understand %s", (path) => {
    expect(parseJsonPath(path)).toBeUndefined();
  });
});
