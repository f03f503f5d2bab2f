import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { awsLabels, labels } from "../../src/api/labels.ts";
import { explainPod } from "../../src/core/explain/explain-pod.ts";
import type { Explanation } from "../../src/core/explain/explanation.ts";
import type { SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { instanceType } from "../builders/instance-type.ts";
import { node } from "../builders/node.ts";
import { nodePool } from "../builders/node-pool.ts";
import { type PodBuilder, pod } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";
import type { VolumeDraft } from "../builders/volumes.ts";
import { runs } from "../runs.ts";
import { causes, unplaceable, victimKey } from "./unplaceable.ts";

function explained(asked: { build(): SchedulingProblem }): Explanation {
  const explanation = explainPod(asked.build(), "default/p-0");
  if (explanation === undefined) throw new Error("there is no such pod");
  return explanation;
}

function texts(asked: { build(): SchedulingProblem }): readonly string[] {
  return explained(asked).suggestions.map(({ text }) => text);
}

const small = pod().cpu("1");

describe("what is suggested first", () => {
  it.each([
    ["a label's name", small.on("taem", "blue"), "did you mean team?"],
    ["a label's value", small.on("team", "bleu"), "did you mean team: blue?"],
    ["in node affinity", small.needs(["team", "In", "bleu"]), "did you mean team: blue?"],
    ["a well-known label's name", small.on("topology.kubernetes.io/zoen", "a"), `did you mean ${labels.zone}?`],
    ["a label of the wrong domain", small.on("kubernetes.io/zone", "a"), `did you mean ${labels.zone}?`],
    ["the other name of an architecture", small.on("arch", "x86_64"), `did you mean ${labels.arch}: amd64?`],
    ["an instance type", small.on("type", "m5.lagre"), `did you mean ${labels.instanceType}: m5.large?`],
  ] as const)("02:R-28 corrects %s", (_, asked, first) => {
    const pools = [nodePool("web").label("team", "blue"), nodePool("batch").limit("cpu", "0")];
    const types = [instanceType("m5.large"), instanceType("t4")].map((one) => one.cpu(4).label(labels.arch, "amd64"));
    const [text] = texts(problem().types(...types).pools(...pools).pod(asked)); // biome-ignore format: one line
    expect(text).toContain(first);
  });

  it.each([
    ["another zone", small.on("zone", "d"), /^change topology/],
    ["another number", small.on("team", "web2"), /^change team/],
  ] as const)("does not take %s for a typo", (_, asked, first) => {
    const [text] = texts(problem().pools(nodePool().label("team", "web1").zones("a")).pod(asked));
    expect(text).toMatch(first);
  });

  it("never changes what the pod's image was built for", () => {
    const onArm = explained(
      problem()
        .types(instanceType("one").cpu(4).label(labels.arch, "amd64"))
        .pools(nodePool().requires("arch", "In", "amd64"))
        .pod(small.on("arch", "arm64")),
    );
    expect(onArm.suggestions).toEqual([]);
    expect(onArm.lastResorts?.map(({ text }) => text)).toEqual([
      expect.stringContaining("from arm64 to amd64"),
      expect.stringContaining(`drop ${labels.arch}`),
    ]);
  });

  it("gives a pool another architecture only for a pod that asks for it", () => {
    const types = [
      instanceType("small").cpu(4).label(labels.arch, "amd64"),
      instanceType("large-arm").cpu(16).label(labels.arch, "arm64"),
    ];
    const pools = [nodePool().requires("arch", "In", "amd64")];
    const asking = (asked: PodBuilder) => explained(problem().types(...types).pools(...pools).pod(asked)); // biome-ignore format: one line
    expect(asking(small.on("arch", "arm64")).suggestions[0]?.text).toBe(
      `allow ${labels.arch} arm64 in NodePool default`,
    );
    expect(asking(pod().cpu("8")).suggestions.map(({ text }) => text)).toEqual([
      "lower the cpu request of container app to 4",
    ]);
  });

  it("gives up GPUs only where nothing else helps, and apart", () => {
    const { suggestions, lastResorts } = explained(problem().pod(small.request("nvidia.com/gpu", "1")));
    expect(suggestions).toEqual([]);
    expect(lastResorts?.[0]?.text).toContain("lower the nvidia.com/gpu request");
    const labelled = explained(problem().pod(small.on(awsLabels.instanceGpuName, "t4")));
    expect(labelled.suggestions.map(({ text }) => text).join()).not.toContain(`drop ${awsLabels.instanceGpuName}`);
  });
});

describe("preferences", () => {
  it("02:Q-40 that were given up are named, those that were kept are not", () => {
    const asked = pod()
      .cpu("999")
      .prefers(10, ["zone", "In", "a"])
      .spread("zone", { whenUnsatisfiable: "ScheduleAnyway" });
    expect(explained(problem().pod(asked)).droppedPreferences).toEqual([
      { text: `node affinity of weight 10 (${labels.zone} a)` },
      { text: `spread over ${labels.zone}` },
    ]);
    expect(explained(problem().pod(pod().cpu("999"))).droppedPreferences).toBeUndefined();
  });

  it("02:Q-40 that a placed pod does without are named with what refused them", () => {
    const pools = nodePool("main").zones("a", "b");
    const asked = pod().prefers(10, ["zone", "In", "c"]).prefers(5, ["zone", "In", "b"]);
    const { outcome, droppedPreferences } = explained(problem().pools(pools).pod(asked));
    expect(outcome.kind).toBe("on-new-node");
    expect(droppedPreferences).toEqual([
      {
        text: `node affinity of weight 10 (${labels.zone} c)`,
        because: `the pod asks for ${labels.zone}=c, but NodePool main has ${labels.zone} in (a, b)`,
      },
    ]);
    const kept = problem()
      .pools(pools)
      .pod(pod().prefers(5, ["zone", "In", "b"]));
    expect(explained(kept).droppedPreferences).toBeUndefined();
  });

  it("02:Q-40 of a pod on a node that exists are named too", () => {
    const asked = pod().cpu("1").prefers(10, ["zone", "In", "z9"]);
    const { outcome, droppedPreferences } = explained(problem().nodes(node("n1").zone("a").cpu("4")).pod(asked));
    expect(outcome).toEqual({ kind: "on-node", node: "n1" });
    expect(droppedPreferences?.map(({ text }) => text)).toEqual([`node affinity of weight 10 (${labels.zone} z9)`]);
  });
});

describe("data", () => {
  const zonal: readonly VolumeDraft[] = [{ claim: "data", zones: [["z9"]] }];
  const contradicting: readonly VolumeDraft[] = [
    { claim: "data", zones: [["a"]] },
    { claim: "logs", zones: [["b"]] },
  ];

  it.each(["StatefulSet", "ReplicaSet"])("02:W-1 of a %s stays where it is, though nothing else would help", (kind) => {
    const db = small.ownedBy(kind, "db").volume("data");
    expect(explained(problem().volumes(...zonal).pod(db))).toMatchObject({ suggestions: [] }); // biome-ignore format: one line
    const both = explained(problem().volumes(...contradicting).pod(db.volume("logs"))); // biome-ignore format: one line
    expect([both.suggestions, both.lastResorts]).toEqual([[], undefined]);
  });

  it("02:V-5 no claim of a StatefulSet is created, renamed or edited", () => {
    const volumes: readonly VolumeDraft[] = [{ claim: "data", isUnbound: true }];
    const missing = (owner: string) => problem().volumes(...volumes).pod(small.ownedBy(owner, "db").volume("dta")); // biome-ignore format: one line
    expect(explained(missing("StatefulSet")).suggestions).toEqual([]);
    expect(texts(missing("ReplicaSet"))[0]).toBe("use claim data instead of dta for volume dta");
  });

  it("is not touched by any suggestion for any pod", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...causes).chain(unplaceable),
        fc.constantFrom("StatefulSet", "ReplicaSet"),
        (drawn, kind) => {
          const owner = { apiVersion: "apps/v1", kind, name: "db", uid: "db", controller: true };
          const pods = drawn.problem.pods.map((one) =>
            one.metadata.name === "victim" ? { ...one, metadata: { ...one.metadata, ownerReferences: [owner] } } : one,
          );
          const { suggestions = [], lastResorts = [] } = explainPod({ ...drawn.problem, pods }, victimKey) ?? {};
          for (const { edits } of [...suggestions, ...lastResorts]) {
            for (const { object, op, path } of edits) {
              expect(op === "remove" && path.startsWith("/spec/volumes")).toBe(false);
              expect(object.kind).not.toBe("PersistentVolume");
              if (kind === "StatefulSet") {
                expect(object.kind).not.toBe("PersistentVolumeClaim");
                expect(path).not.toMatch(/^\/spec\/volumes/);
              }
            }
          }
        },
      ),
      { numRuns: runs(2_000) },
    );
  });
});
