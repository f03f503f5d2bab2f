import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { PoolToHash } from "../../../test/oracle/random-pools.ts";
import { nodePoolHashVersion } from "./hash-drift.ts";
import { type HashedTemplate, nodePoolHash } from "./node-pool-hash.ts";

const base = {
  metadata: { labels: { team: "a", tier: "web" }, annotations: { note: "x" } },
  spec: {
    taints: [
      { key: "a", value: "b", effect: "NoSchedule" },
      { key: "c", effect: "NoExecute" },
    ],
    startupTaints: [{ key: "s", effect: "NoSchedule" }],
    nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
    terminationGracePeriod: "1h",
    expireAfter: "720h",
  },
} satisfies HashedTemplate;

const hash = (spec: Partial<HashedTemplate["spec"]>, metadata: HashedTemplate["metadata"] = base.metadata) =>
  nodePoolHash({ metadata, spec: { ...base.spec, ...spec } });
const unchanged = nodePoolHash(base);

describe("nodePoolHash", () => {
  it.each([
    ["a label's value", hash({}, { ...base.metadata, labels: { team: "b", tier: "web" } })],
    ["a new label", hash({}, { ...base.metadata, labels: { ...base.metadata.labels, x: "" } })],
    ["an annotation", hash({}, { ...base.metadata, annotations: {} })],
    ["labels moved to annotations", hash({}, { labels: base.metadata.annotations, annotations: base.metadata.labels })],
    [
      "a taint's key",
      hash({
        taints: [
          { key: "z", value: "b", effect: "NoSchedule" },
          { key: "c", effect: "NoExecute" },
        ],
      }),
    ],
    [
      "a taint's value",
      hash({
        taints: [
          { key: "a", value: "z", effect: "NoSchedule" },
          { key: "c", effect: "NoExecute" },
        ],
      }),
    ],
    [
      "a taint's effect",
      hash({
        taints: [
          { key: "a", value: "b", effect: "NoExecute" },
          { key: "c", effect: "NoExecute" },
        ],
      }),
    ],
    ["fewer taints", hash({ taints: base.spec.taints.slice(1) })],
    ["startup taints", hash({ startupTaints: [] })],
    [
      "a taint made a startup taint",
      hash({ taints: [], startupTaints: [...base.spec.startupTaints, ...base.spec.taints] }),
    ],
    ["the class' group", hash({ nodeClassRef: { ...base.spec.nodeClassRef, group: "g" } })],
    ["the class' kind", hash({ nodeClassRef: { ...base.spec.nodeClassRef, kind: "K" } })],
    ["the class' name", hash({ nodeClassRef: { ...base.spec.nodeClassRef, name: "n" } })],
    ["terminationGracePeriod", hash({ terminationGracePeriod: "2h" })],
    ["no terminationGracePeriod", hash({ terminationGracePeriod: undefined })],
    ["a terminationGracePeriod of zero", hash({ terminationGracePeriod: "0s" })],
    ["expireAfter", hash({ expireAfter: "Never" })],
  ])("01 §6.1 drifts on %s", (_what, changed) => {
    expect(changed).not.toBe(unchanged);
  });

  it("01 §6.1 every one of those is a hash of its own", () => {
    expect(hash({ terminationGracePeriod: "0s" })).not.toBe(hash({ terminationGracePeriod: undefined }));
  });

  it("01 §6.1 ignores requirements and whatever stands outside the template", () => {
    const spec = { ...base.spec, requirements: [{ key: "a", operator: "Exists" }] };
    const pool = { weight: 3, limits: { cpu: 1 }, template: { ...base, spec } };
    expect(nodePoolHash(pool.template)).toBe(unchanged);
  });

  it("01 §0.3 ignores how a duration is written", () => {
    expect(hash({ expireAfter: "43200m", terminationGracePeriod: "60m" })).toBe(unchanged);
    expect(hash({ expireAfter: "Never" })).toBe(hash({ expireAfter: undefined }));
  });

  it("01 §6.3 ignores order and empty values", () => {
    const turned = hash(
      { taints: [...base.spec.taints].reverse() },
      { annotations: base.metadata.annotations, labels: { tier: "web", team: "a" } },
    );
    expect(turned).toBe(unchanged);
    expect(hash({ taints: base.spec.taints.map((taint) => ({ value: "", ...taint })) })).toBe(unchanged);
  });

  it("01 §6.3 an unset map or list is not an empty one", () => {
    const { nodeClassRef } = base.spec;
    const hashes = [
      nodePoolHash({ spec: { nodeClassRef } }),
      nodePoolHash({ metadata: { labels: {} }, spec: { nodeClassRef } }),
      nodePoolHash({ metadata: { annotations: {} }, spec: { nodeClassRef } }),
      nodePoolHash({ spec: { nodeClassRef, taints: [] } }),
      nodePoolHash({ spec: { nodeClassRef, startupTaints: [] } }),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(nodePoolHash({ metadata: {}, spec: { nodeClassRef } })).toBe(hashes[0]);
  });

  it("01 §6.3 has upstream's bits on templates of every shape", () => {
    const { items }: { readonly items: readonly PoolToHash[] } = answer("node-pools.json");
    const expected: readonly object[] = answer("node-pools.expected.json");
    expect(expected.length).toBe(150);
    expect(
      items.map(({ metadata, spec }) => ({
        nodePool: metadata.name,
        hash: nodePoolHash(spec.template),
        version: nodePoolHashVersion,
      })),
    ).toEqual(expected);
  });
});

/** Drawn once with `poolsToHash`, and what `npm run oracle -- hash` says of them. */
function answer(file: string) {
  return JSON.parse(readFileSync(new URL(`../../../test/fixtures/hashes/${file}`, import.meta.url), "utf8"));
}
