import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Admission } from "../../src/api/admission.ts";
import { convertManifests } from "../../src/api/conversion/manifests.ts";
import { toV1beta1 } from "../../src/api/conversion/to-v1beta1.ts";
import { karpenterKindOf } from "../../src/api/kinds/karpenter-kinds.ts";
import { isFragment, mergeFragments } from "../../src/api/manifest/fragments.ts";
import { printYaml } from "../../src/api/manifest/print.ts";
import { readManifests } from "../../src/api/manifest/read.ts";
import { isRecord } from "../../src/api/object.ts";
import { runs } from "../runs.ts";
import { seedNames, seedText } from "./fixtures.ts";

const alphas = [
  `apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: default}
spec:
  requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
  limits: {resources: {cpu: 1000}}
  ttlSecondsAfterEmpty: 30
  kubeletConfiguration: {maxPods: 10}
  providerRef: {name: default}
---
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: default}
spec: {subnetSelector: {a: "b,c"}, securityGroupSelector: {aws-ids: sg-1}, amiSelector: {a: b}}
`,
  `apiVersion: karpenter.sh/v1alpha4
kind: Provisioner
metadata: {name: default}
spec: {instanceTypes: [m5.large], ttlSecondsUntilExpired: 5, provider: {instanceProfile: a, subnetSelector: {a: b}}}
`,
  `apiVersion: karpenter.sh/v1beta1
kind: NodeClaim
metadata: {name: a, labels: {karpenter.sh/nodepool: default}}
spec: {requirements: [], nodeClassRef: {name: default}, kubelet: {maxPods: 3}}
`,
];
const text = fc.constantFrom(...seedNames.map(seedText), ...alphas);

/** What slips into files: other letters, lost and doubled lines, other indentation, other values. */
const splice = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  remove: fc.nat({ max: 12 }),
  insert: fc.oneof(
    fc.constantFrom(
      "",
      " ",
      "  ",
      "\n",
      "\t",
      ":",
      ": ",
      "- ",
      "*a",
      "&a ",
      "<<: ",
      "{",
      "}",
      "[",
      "]",
      '"',
      "'",
      "|",
      "#",
      "---\n",
    ),
    fc.constantFrom(
      "null",
      "~",
      "[]",
      "{}",
      "-1",
      "0",
      "1e9",
      "true",
      "yes",
      "__proto__: 1\n",
      "Ubuntu",
      "WhenIdle",
      "Never",
      "é\u0000",
    ),
    fc.string({ maxLength: 4 }),
  ),
});

function spliced(source: string, edits: readonly { at: number; remove: number; insert: string }[]): string {
  return edits.reduce((now, { at, remove, insert }) => {
    const start = Math.floor(at * now.length);
    return now.slice(0, start) + insert + now.slice(start + remove);
  }, source);
}

const scalar = fc.constantFrom(
  null,
  true,
  -1,
  0,
  1.5,
  "",
  "x",
  "Never",
  "WhenIdle",
  "Ubuntu",
  "AL2",
  "Out",
  "30s",
  "karpenter.sh/v1alpha5",
);
const value = fc.oneof(
  scalar,
  fc.constantFrom([], {}, [null], [{}], [[]], { a: 1 }, [{ key: "a", operator: "Out" }]),
  fc.jsonValue({ maxDepth: 2 }),
);

/** The object with the node that a number picks replaced. */
function replaced(object: unknown, pick: number, by: unknown): unknown {
  let left = pick;
  const walk = (node: unknown): unknown => {
    if (left-- === 0) return by;
    if (Array.isArray(node)) return node.map(walk);
    if (isRecord(node)) return Object.fromEntries(Object.entries(node).map(([key, field]) => [key, walk(field)]));
    return node;
  };
  return walk(object);
}

const admission = new Admission("all");

function holds(source: string, mode: "lenient" | "strict"): void {
  const read = readManifests(source, "f.yaml");
  const lines = source.split("\n").length;
  const merged = mergeFragments(read.documents, { kind: "NodePool", name: "default" });
  const whole = merged.documents.filter((document) => !isFragment(document.object));
  const conversion = convertManifests(whole, { mode, provider: "all" });
  for (const { position, message } of [...read.findings, ...merged.findings, ...conversion.findings]) {
    expect(position.line).toBeGreaterThanOrEqual(1);
    expect(position.line).toBeLessThanOrEqual(lines);
    expect(message).not.toMatch(/undefined|\[object/);
  }
  for (const { object } of conversion.documents) {
    if (isRecord(object) && karpenterKindOf(object["apiVersion"], object["kind"]))
      expect(admission.admit(object, { strict: true }).problems).toEqual([]);
  }
  // What is printed says what was meant. Verbatim text may hold old booleans, which are read the same way again.
  const again = readManifests(printYaml(conversion.documents), "g.yaml");
  if (conversion.documents.length > 0) {
    expect(again.documents.map((document) => document.object)).toEqual(
      conversion.documents.map((document) => document.object),
    );
  }
  toV1beta1(conversion.documents.map((document) => document.object));
}

describe("mutilated manifests", () => {
  const mode = fc.constantFrom("lenient" as const, "strict" as const);

  it("never throw, are never printed unless valid, and print what they mean: letters changed", () => {
    fc.assert(
      fc.property(text, fc.array(splice, { minLength: 1, maxLength: 4 }), mode, (source, edits, how) =>
        holds(spliced(source, edits), how),
      ),
      { numRuns: runs(5_000) },
    );
  }, 300_000);

  it("never throw, are never printed unless valid, and print what they mean: values changed", () => {
    const edit = fc.record({ pick: fc.nat({ max: 60 }), by: value });
    fc.assert(
      fc.property(text, fc.array(edit, { minLength: 1, maxLength: 3 }), mode, (source, edits, how) => {
        const objects = readManifests(source, "f").documents.map((document) => document.object);
        const changed = objects.map((one) => edits.reduce((now, { pick, by }) => replaced(now, pick, by), one));
        holds(changed.map((one) => JSON.stringify(one, null, 1)).join("\n---\n"), how);
      }),
      { numRuns: runs(5_000) },
    );
  }, 300_000);
});
