import { describe, expect, it } from "vitest";
import { instanceType } from "../../test/builders/instance-type.ts";
import { labelPolicy } from "../api/label-policy.ts";
import type { KubeObject, ObjectMeta } from "../api/object.ts";
import type { InstanceType } from "../core/instance-type.ts";
import { decisionWithoutPools } from "../core/round/decision-without-pools.ts";
import { completeObjects } from "../core/scenario/complete-objects.ts";
import { defaultSchedulingPolicy } from "../core/scheduling/problem.ts";
import { type Scenario, scenarioOf } from "./scenario.ts";

const served = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass" };
const nodeClass = { ...served, name: "default" };
const nowMs = Date.parse("2026-01-15T12:00:00Z");
const gone = "2026-01-15T11:00:00Z";

function scenario(...objects: readonly KubeObject[]): Scenario {
  return scenarioWith([instanceType("m.large").build()], objects);
}

function scenarioWith(types: readonly InstanceType[], objects: readonly KubeObject[]): Scenario {
  const typesFor = () => types;
  return scenarioOf(completeObjects(objects, { typesFor, nowMs, defaultNodeClass: nodeClass }), {
    typesFor,
    served: [served],
    labelPolicy: labelPolicy("kwok"),
    policy: defaultSchedulingPolicy,
    seed: 1,
    nowMs,
  });
}

const pool = (name: string, spec: object = {}, more: Partial<KubeObject> & { meta?: ObjectMeta } = {}): KubeObject => ({
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name, ...more.meta },
  spec: { template: { spec: { nodeClassRef: nodeClass, requirements: [] } }, ...spec },
  ...(more.status !== undefined && { status: more.status }),
});

const pod = (name: string, spec: object = {}, meta: ObjectMeta = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...meta },
  spec: { containers: [{ name: "app", resources: { requests: { cpu: "1" } } }], ...spec },
});

const nodeAndClaim = (name: string, meta: ObjectMeta = {}): readonly KubeObject[] => [
  {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: {
      name,
      labels: { "karpenter.sh/nodepool": "p", "node.kubernetes.io/instance-type": "m.large" },
      ...meta,
    },
  },
  { apiVersion: "v1", kind: "Node", metadata: { name } },
];

const names = (pods: readonly { readonly metadata: ObjectMeta }[]) => pods.map(({ metadata }) => metadata.name);

describe("the problem of a round", () => {
  it("02:T-6 a pool whose node class offers nothing is named", () => {
    const { notes } = scenarioWith([], [pool("p"), pool("q"), pod("waits")]);
    expect(notes).toEqual([
      { code: "pool-without-types", pool: "p" },
      { code: "pool-without-types", pool: "q" },
    ]);
  });

  it("02:P-1 02:V-1 takes pending pods that pass validation, and reports what is wrong with others", () => {
    const { problem, ignored } = scenario(
      pool("p"),
      pod("waits"),
      pod("bound", { nodeName: "n" }),
      pod("gated", { schedulingGates: [{ name: "g" }] }),
      pod("avoids", {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: "karpenter.sh/nodepool", operator: "DoesNotExist" }] }],
            },
          },
        },
      }),
    );
    expect(names(problem.pods)).toEqual(["waits"]);
    expect(names(problem.boundPods)).toEqual(["bound"]);
    expect(ignored.map(({ pod: { metadata }, code, message }) => [metadata.name, code, message.slice(0, 13)])).toEqual([
      ["avoids", "invalid-pod", "ignoring pod,"],
    ]);
  });

  it("02:P-33 leaves out pools that launch no nodes for pods, and reports why", () => {
    const foreign = { template: { spec: { nodeClassRef: { ...nodeClass, kind: "EC2NodeClass" }, requirements: [] } } };
    const { problem, notes } = scenario(
      pool("good"),
      pool("static", { replicas: 1 }),
      pool("sick", {}, { status: { conditions: [{ type: "NodeClassReady", status: "False" }] } }),
      pool("deleting", {}, { meta: { deletionTimestamp: gone } }),
      pool("theirs", foreign),
    );
    expect(problem.pools.map(({ nodePool }) => nodePool.metadata.name)).toEqual(["good"]);
    expect(notes.map((note) => note.code === "pool-passed-over" && [note.pool, note.because])).toEqual([
      ["static", "static"],
      ["sick", "not-ready"],
      ["deleting", "deleting"],
      ["theirs", "foreign-class"],
    ]);
  });

  it("02:P-31 reschedules pods of nodes being deleted, unless they are blocked", () => {
    const budget: KubeObject = {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "b" },
      spec: { selector: { matchLabels: { app: "held" } }, maxUnavailable: 0 },
    };
    const daemon = { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d" }] };
    const { problem } = scenario(
      pool("p"),
      ...nodeAndClaim("leaves", { deletionTimestamp: gone }),
      ...nodeAndClaim("stays"),
      pod("moves", { nodeName: "leaves" }),
      pod("held", { nodeName: "leaves" }, { labels: { app: "held" } }),
      pod("daemon", { nodeName: "leaves" }, daemon),
      pod("protected", { nodeName: "leaves" }, { annotations: { "karpenter.sh/do-not-disrupt": "true" } }),
      pod("settled", { nodeName: "stays" }),
      budget,
    );
    expect(names(problem.pods)).toEqual(["moves"]);
    expect(problem.nodes.map(({ name }) => name)).toEqual(["stays"]);
    expect([...problem.nodesByName.keys()]).toEqual(["leaves", "stays"]);
  });

  it("02:P-32 without a usable pool every pod is refused", () => {
    const { problem } = scenario(pool("static", { replicas: 1 }), pod("a"), pod("b"));
    const decision = decisionWithoutPools(problem);
    expect(decision?.refusals.map(({ pod: { metadata }, message }) => [metadata.name, message])).toEqual([
      ["a", "no dynamic nodepools found"],
      ["b", "no dynamic nodepools found"],
    ]);
    expect(decisionWithoutPools(scenario(pool("p"), pod("a")).problem)).toBeUndefined();
  });

  it("02:T-5 counts one pod a DaemonSet: the newest live one with the template's affinity, else the template", () => {
    const term = (value: string) => ({
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: "disk", operator: "In", values: [value] }] }],
      },
    });
    const daemonSet = (name: string, affinity?: object): KubeObject => ({
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name, uid: name },
      spec: {
        template: {
          metadata: { labels: { app: name } },
          spec: {
            containers: [{ name: "d", resources: { limits: { cpu: "2" } } }],
            ...(affinity && { affinity: { nodeAffinity: affinity } }),
          },
        },
      },
    });
    const live = (name: string, at: string): KubeObject =>
      pod(
        name,
        { nodeName: "n", affinity: { nodeAffinity: term("pinned") } },
        {
          creationTimestamp: at,
          ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "live", uid: "live", controller: true }],
        },
      );
    const { problem } = scenario(
      pool("p"),
      daemonSet("idle"),
      daemonSet("live", term("ssd")),
      live("old", "2026-01-01T00:00:00Z"),
      live("new", "2026-01-02T00:00:00Z"),
    );
    const [idle, newest] = problem.daemons;
    expect(idle).toMatchObject({
      metadata: { name: "idle", labels: { app: "idle" } },
      spec: { containers: [{ resources: { requests: { cpu: "2" } } }] },
    });
    expect(newest).toMatchObject({ metadata: { name: "new" }, spec: { affinity: { nodeAffinity: term("ssd") } } });
  });

  it("02:B-6 virtual pods of buffers are added after validation; unresolved buffers are reported", () => {
    const buffer = (name: string, template: string): KubeObject => ({
      apiVersion: "autoscaling.x-k8s.io/v1beta1",
      kind: "CapacityBuffer",
      metadata: { name },
      spec: { podTemplateRef: { name: template }, replicas: 2 },
    });
    const template = {
      apiVersion: "v1",
      kind: "PodTemplate",
      metadata: { name: "chunk" },
      template: { spec: { containers: [{ name: "a" }] } },
    } as KubeObject;
    const { problem, notes } = scenario(
      pool("p"),
      pod("real"),
      buffer("spare", "chunk"),
      buffer("lost", "nowhere"),
      template,
    );
    expect(names(problem.pods)).toEqual(["real", "capacity-buffer-spare-1", "capacity-buffer-spare-2"]);
    expect(notes).toMatchObject([
      { code: "buffer-unresolved", buffer: { name: "lost" }, because: "PodTemplateNotFound" },
    ]);
  });

  it("02:O-9 overlays change the instance types", () => {
    const overlay: KubeObject = {
      apiVersion: "karpenter.sh/v1alpha1",
      kind: "NodeOverlay",
      metadata: { name: "o" },
      spec: { requirements: [], price: "0.5" },
    };
    const { problem, overlaid } = scenario(pool("p"), overlay);
    expect(new Set(problem.pools[0]?.instanceTypes[0]?.offerings.map(({ price }) => price))).toEqual(new Set([0.5]));
    expect(overlaid.priced.size).toBe(1);
  });

  it("02:S-1 leaves claims out that are not launched, or are not ours", () => {
    const unlaunched: KubeObject = {
      apiVersion: "karpenter.sh/v1",
      kind: "NodeClaim",
      metadata: { name: "u" },
      status: { conditions: [{ type: "Launched", status: "False" }] },
    };
    const [theirs, node] = nodeAndClaim("theirs");
    const foreign = { ...theirs, spec: { nodeClassRef: { ...nodeClass, kind: "Other" } } } as KubeObject;
    const { problem, notes } = scenario(pool("p"), unlaunched, foreign, node as KubeObject);
    expect(notes).toEqual([{ code: "claim-not-launched", claim: "u" }]);
    expect(problem.nodes.map(({ name, isInitialized }) => [name, isInitialized])).toEqual([["theirs", true]]);
  });
});
