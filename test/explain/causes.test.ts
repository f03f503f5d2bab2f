import { describe, expect, it } from "vitest";
import { kwokLabels, labels } from "../../src/api/labels.ts";
import type { Edit } from "../../src/core/explain/edit.ts";
import { explainPod } from "../../src/core/explain/explain-pod.ts";
import type { Explanation } from "../../src/core/explain/explanation.ts";
import type { SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { instanceType } from "../builders/instance-type.ts";
import { node } from "../builders/node.ts";
import { nodePool } from "../builders/node-pool.ts";
import { pod } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";

function explained(asked: { build(): SchedulingProblem }, key = "default/p-0"): Explanation {
  const explanation = explainPod(asked.build(), key);
  if (explanation === undefined) throw new Error(`there is no pod ${key}`);
  return explanation;
}

/** `Kind name op path value`. */
function edits({ suggestions }: Pick<Explanation, "suggestions">, at = 0): readonly string[] {
  const line = ({ object, op, path, value }: Edit): string =>
    `${object.kind} ${object.name} ${op} ${path}${value === undefined ? "" : ` ${JSON.stringify(value)}`}`;
  return (suggestions[at]?.edits ?? []).map(line);
}

const zoneAt = "/spec/nodeSelector/topology.kubernetes.io~1zone";

describe("what stands in the way, and what is suggested", () => {
  it("02:N-1 a taint: tolerate it, no wider than it is", () => {
    const explanation = explained(
      problem().pools(nodePool().taint("dedicated=gpu:NoSchedule").taint("slow:NoExecute")).pod(pod().cpu("1")),
    );
    expect(explanation.pools).toEqual([
      {
        pool: "default",
        reasons: [
          { code: "taint", taint: "dedicated=gpu:NoSchedule" },
          { code: "taint", taint: "slow:NoExecute" },
        ],
      },
    ]);
    expect(edits(explanation)).toEqual([
      `Pod p-0 add /spec/tolerations ${JSON.stringify([
        { key: "dedicated", operator: "Equal", value: "gpu", effect: "NoSchedule" },
        { key: "slow", operator: "Exists", effect: "NoExecute" },
      ])}`,
    ]);
    expect(edits(explanation, 1)).toEqual([
      "NodePool default remove /spec/template/spec/taints/1",
      "NodePool default remove /spec/template/spec/taints/0",
    ]);
  });

  it("02:N-2 a label of the pool's own: a value that looks like a slip is mended first", () => {
    const explanation = explained(
      problem().pools(nodePool("gpu").label("team", "blue")).pod(pod().cpu("1").on("team", "bleu")),
    );
    expect(explanation.pools[0]?.reasons).toEqual([
      { code: "requirements", key: "team", wants: "In [bleu]", has: "In [blue]", similarValue: "blue" },
    ]);
    expect(edits(explanation)).toEqual(['Pod p-0 replace /spec/nodeSelector/team "blue"']);
  });

  it("02:R-28 a label nobody has: use the one that is meant, else do without it, else label the pool", () => {
    const typo = explained(problem().pod(pod().cpu("1").on("node.kubernetes.io/zone", "a")));
    expect(typo.cause).toContain("did you mean topology.kubernetes.io/zone?");
    expect(edits(typo)).toContain(`Pod p-0 add ${zoneAt} "a"`);
    const custom = explained(problem().pod(pod().cpu("1").on("example.com/tier", "gold")));
    expect(edits(custom)).toEqual(["Pod p-0 remove /spec/nodeSelector/example.com~1tier"]);
    expect(edits(custom, 1)).toEqual([
      'NodePool default add /spec/template/metadata {"labels":{"example.com/tier":"gold"}}',
    ]);
  });

  it("02:F-1 size: lower the request to what the nearest type has after its daemons", () => {
    const explanation = explained(
      problem()
        .types(instanceType("small").cpu(2), instanceType("large").cpu(4).overhead({ cpu: "100m" }))
        .daemons(pod().cpu("400m"))
        .pod(pod().cpu("4")),
    );
    expect(explanation.pools[0]?.reasons).toEqual([
      { code: "resources", resource: "cpu", asked: "4", available: "3500m", daemons: "400m", instanceType: "large" },
    ]);
    expect(edits(explanation)).toEqual(['Pod p-0 replace /spec/containers/0/resources/requests/cpu "3500m"']);
  });

  it("02:F-1 size: let the pool have a larger type the provider offers", () => {
    const explanation = explained(
      problem()
        .types(
          instanceType("small").cpu(2).label(kwokLabels.instanceCpu, "2"),
          instanceType("large").cpu(16).label(kwokLabels.instanceCpu, "16"),
        )
        .pools(nodePool().requires(kwokLabels.instanceCpu, "Lt", "4"))
        .pod(pod().cpu("8")),
    );
    expect(edits(explanation)).toEqual(['NodePool default replace /spec/template/spec/requirements/0/values ["17"]']);
    expect(explanation.suggestions[0]?.place).toEqual({ pool: "default", instanceType: "large" });
  });

  it("02:F-1 an offering that is unavailable: another offering", () => {
    const explanation = explained(
      problem()
        .types(instanceType("m").soldOutIn("b", "spot"))
        .pools(nodePool().requires("capacity-type", "In", "spot"))
        .pod(pod().cpu("1").on("zone", "b")),
    );
    const all = [0, 1, 2].flatMap((at) => edits(explanation, at));
    expect(all).toContain('NodePool default add /spec/template/spec/requirements/0/values/- "on-demand"');
    expect(all).toContain(`Pod p-0 replace ${zoneAt} "a"`);
  });

  it("02:F-1 a label no type has: what types have of it is told", () => {
    const explanation = explained(problem().pod(pod().cpu("1").on("zone", "z9")));
    expect(explanation.pools[0]?.reasons).toEqual([
      { code: "requirements", key: labels.zone, wants: "In [z9]", has: "In [a b c]" },
    ]);
    expect(edits(explanation)).toEqual([`Pod p-0 replace ${zoneAt} "a"`]);
  });

  it("02:H-2 limits: raise them by what the smallest suitable type needs", () => {
    const explanation = explained(
      problem()
        .types(instanceType("two").cpu(2), instanceType("eight").cpu(8))
        .pools(nodePool().limit("cpu", "5"))
        .nodes(node("n").pool("default").cpu("4"))
        .pod(pod().cpu("6")),
    );
    expect(explanation.pools[0]?.reasons).toEqual([
      { code: "limits", resource: "cpu", limit: "5", used: "4", needed: "8", instanceType: "eight" },
    ]);
    expect(edits(explanation)).toEqual(['NodePool default replace /spec/limits/cpu "12"']);
    expect(explanation.suggestions.map(({ text }) => text)).toEqual([
      "raise the cpu limit of NodePool default by 7 to 12",
      "lower the cpu request of container app to 4",
      "drop the cpu limit of NodePool default",
    ]);
  });

  it("02:H-2 the limit of nodes: one more", () => {
    const explanation = explained(
      problem().pools(nodePool().limit("nodes", "1")).nodes(node("n").pool("default").cpu("500m")).pod(pod().cpu("1")),
    );
    expect(explanation.pools[0]?.reasons).toEqual([{ code: "node-limit", resource: "nodes", limit: "1", used: "1" }]);
    expect(edits(explanation)).toEqual(['NodePool default replace /spec/limits/nodes "2"']);
  });

  it("02:N-2 a zone the pool leaves out: let it have the zone", () => {
    const explanation = explained(
      problem()
        .pools(nodePool().zones("a", "b"))
        .pod(pod().cpu("1").needs(["zone", "In", "c"])),
    );
    const all = [0, 1].flatMap((at) => edits(explanation, at));
    expect(all).toContain('NodePool default add /spec/template/spec/requirements/0/values/- "c"');
    expect(all.some((one) => one.startsWith("Pod p-0 add /spec/affinity/nodeAffinity"))).toBe(true);
  });

  it("02:X-30 affinity to pods that are nowhere: a preference instead", () => {
    const explanation = explained(problem().pod(pod().cpu("1").near("zone", { app: "nobody" })));
    expect(explanation.pools[0]?.reasons).toMatchObject([{ code: "topology", kind: "affinity", key: labels.zone }]);
    expect(explanation.suggestions[0]?.text).toBe(`make the pod affinity over ${labels.zone} a preference`);
  });

  it("02:X-41 others that keep away from it: they prefer it, or it loses the label they select", () => {
    const shy = pod().label("app", "shy").apart("zone", { kind: "loud" });
    const everywhere = ["a", "b", "c"].map((zone) => node(`n-${zone}`).zone(zone).cpu("500m").running(shy));
    const explanation = explained(
      problem()
        .nodes(...everywhere)
        .pod(pod().cpu("1").label("kind", "loud")),
    );
    expect(edits(explanation)).toEqual(["Pod p-0 remove /metadata/labels/kind"]);
  });

  it("02:X-25 spread: the smallest skew that lets it in, before a preference", () => {
    const wide = pod().label("app", "wide");
    const explanation = explained(
      problem()
        .pools(nodePool().zones("a"))
        .nodes(node("n-a").zone("a").cpu("300m").running(wide, wide), node("n-b").zone("b").cpu("300m"))
        .pod(wide.cpu("1").spread("zone")),
    );
    expect(explanation.pools[0]?.reasons).toMatchObject([{ code: "topology", kind: "spread", counts: { a: 2, b: 0 } }]);
    const texts = explanation.suggestions.map(({ text }) => text);
    expect(texts).toContain(`raise maxSkew of the spread over ${labels.zone} from 1 to 3`);
    expect(texts).toContain(`allow ${labels.zone} b in NodePool default`);
  });

  it("02:X-25 minDomains: as many as there are", () => {
    const wide = pod().label("app", "wide");
    const nodes = ["a", "b", "c"].map((zone) => node(`n-${zone}`).zone(zone).cpu("300m").running(wide));
    const explanation = explained(
      problem()
        .nodes(...nodes)
        .pod(wide.cpu("1").spread("zone", { minDomains: 5 })),
    );
    expect(edits(explanation)).toEqual(["Pod p-0 replace /spec/topologySpreadConstraints/0/minDomains 3"]);
  });

  it("02:N-3a a volume in a zone the pool leaves out: let it have the zone", () => {
    const explanation = explained(
      problem()
        .pools(nodePool().zones("a"))
        .volumes({ claim: "data", zones: [["b"]] })
        .pod(pod().cpu("1").volume("data")),
    );
    expect(explanation.pools[0]?.reasons).toMatchObject([
      { code: "volume-requirements", wants: "In [b]", has: "In [a]" },
    ]);
    expect(edits(explanation)).toEqual(['NodePool default add /spec/template/spec/requirements/0/values/- "b"']);
  });

  it("02:W-4 a claim that is not there: the one that is meant", () => {
    const explanation = explained(
      problem()
        .volumes({ claim: "data", zones: [["b"]], isUnbound: true })
        .pod(pod().cpu("1").volume("dta")),
    );
    expect(explanation.cause).toBe("persistent volume claim default/dta not found");
    expect(edits(explanation)).toEqual(['Pod p-0 replace /spec/volumes/0/persistentVolumeClaim/claimName "data"']);
  });

  it("02:F-2 minValues: what can be had", () => {
    const explanation = explained(
      problem()
        .types(instanceType("one"), instanceType("two").cpu(8))
        .pools(nodePool().minValues("type", 2))
        .pod(pod().cpu("6")),
    );
    expect(explanation.pools[0]?.reasons).toEqual([
      { code: "min-values", key: labels.instanceType, achieved: 1, wanted: 2 },
    ]);
    expect(edits(explanation)).toEqual(["NodePool default replace /spec/template/spec/requirements/0/minValues 1"]);
  });

  it("02:T-6 a pool whose requirements leave nothing: widen them", () => {
    const explanation = explained(problem().pools(nodePool().zones("z9")).pod(pod().cpu("1")));
    expect(explanation.pools).toEqual([
      { pool: "default", reasons: [{ code: "no-templates", becauseOfMinValues: false }] },
    ]);
    expect(edits(explanation)).toEqual(['NodePool default add /spec/template/spec/requirements/0/values/- "a"']);
  });

  it("02:P-32 without a pool that may be used: says so, and has nothing to suggest", () => {
    expect(explained(problem().pools().pod(pod().cpu("1")))).toEqual({
      pod: "default/p-0",
      outcome: { kind: "unplaced", message: "no dynamic nodepools found" },
      cause: "there is no NodePool that could launch a node for it",
      pools: [],
      nodes: [],
      suggestions: [],
    });
  });

  it("02:D-1 resource claims: only as a last resort they are dropped", () => {
    const { suggestions, lastResorts = [] } = explained(problem().pod(pod().cpu("1").resourceClaim("gpu")));
    expect(suggestions).toEqual([]);
    expect(edits({ suggestions: lastResorts })).toEqual(["Pod p-0 remove /spec/resourceClaims"]);
  });

  it("two things in the way at once are changed at once", () => {
    const explanation = explained(
      problem().pools(nodePool().taint("dedicated:NoSchedule").zones("a")).pod(pod().cpu("1").on("zone", "b")),
    );
    expect(edits(explanation)).toHaveLength(2);
    expect(explanation.pools[0]?.reasons.map(({ code }) => code)).toEqual(["taint", "requirements"]);
  });

  it("pools are ranked by nearness, and the nearest speaks", () => {
    const explanation = explained(
      problem()
        .types(instanceType("m").cpu(4))
        .pools(nodePool("far").taint("x:NoSchedule").zones("a").weight(9), nodePool("near"))
        .pod(pod().cpu("4100m").on("zone", "b")),
    );
    expect(explanation.pools.map(({ pool }) => pool)).toEqual(["near", "far"]);
    expect(explanation.nearest).toMatchObject({ kind: "pool", name: "near" });
    expect(explanation.cause).toMatch(/^none of 2 NodePools fits; the nearest: the pod requests cpu 4\.1; /);
  });

  it("a change of a template reaches all its pods, and tells how many get a place", () => {
    const asked = problem().pools(nodePool().taint("dedicated:NoSchedule")).pods(3, pod().cpu("1")).build();
    const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "web", controller: true };
    const pods = asked.pods.map((one) => ({ ...one, metadata: { ...one.metadata, ownerReferences: [owner] } }));
    const suggestion = explainPod({ ...asked, pods }, "default/p-1")?.suggestions[0];
    expect(suggestion).toMatchObject({
      alsoPlaced: 2,
      displaced: [],
      edits: [{ object: { workload: { kind: "ReplicaSet", name: "web" } } }],
    });
  });
});

describe("what nodes say", () => {
  const full = node("full").cpu("1").running(pod().cpu("900m").hostPort(80));

  it("02 §5.4 each check is told on its own, with its figures", () => {
    const explanation = explained(
      problem()
        .pools(nodePool().taint("x:NoSchedule"))
        .nodes(
          full.taint("old:NoSchedule"),
          node("far").zone("b").volumeLimit("disk.example.com", 0),
          node("near").cpu("1900m"),
        )
        .volumes({ claim: "data", zones: [["a"]] })
        .pod(pod().cpu("2").hostPort(80).on("zone", "a").volume("data")),
    );
    expect(explanation.nodes).toEqual([
      {
        node: "near",
        checks: [
          { check: "resources", reason: { code: "resources", resource: "cpu", asked: "2", available: "1900m" } },
        ],
      },
      {
        node: "full",
        checks: [
          { check: "taints", reason: { code: "taint", taint: "old:NoSchedule" } },
          {
            check: "host-ports",
            reason: { code: "host-port", port: 80, protocol: "TCP", owner: "default/full-pod-0" },
          },
          { check: "resources", reason: { code: "resources", resource: "cpu", asked: "2", available: "100m" } },
        ],
      },
      {
        node: "far",
        checks: [
          { check: "volume-limits", reason: { code: "volume-limit", driver: "disk.example.com", limit: 0, wanted: 1 } },
          { check: "requirements", reason: { code: "requirements", key: labels.zone, wants: "In [a]", has: "In [b]" } },
          {
            check: "topology",
            reason: { code: "volume-requirements", key: labels.zone, wants: "In [a]", has: "In [b]" },
          },
        ],
      },
    ]);
    expect(explanation.nearest).toMatchObject({ kind: "node", name: "near" });
  });

  it("02:E-6 topology is told with the count of the node's own domain", () => {
    const wide = pod().label("app", "wide");
    const explanation = explained(
      problem().pools(nodePool().taint("x:NoSchedule")).nodes(node("n").running(wide)).pod(wide.cpu("1").apart("host")),
    );
    expect(explanation.nodes[0]?.checks).toEqual([
      {
        check: "topology",
        reason: { code: "topology", kind: "anti-affinity", key: labels.hostname, counts: { n: 1 } },
      },
    ]);
  });
});

describe("pods that have a place", () => {
  it("02:Q-6 on a node that exists", () => {
    expect(explained(problem().nodes(node("n")).pod(pod().cpu("1"))).outcome).toEqual({ kind: "on-node", node: "n" });
  });

  it("02:Q-22 on a new node, with its types, price and company", () => {
    expect(explained(problem().pods(2, pod().cpu("1"))).outcome).toMatchObject({
      kind: "on-new-node",
      pool: "default",
      instanceTypes: ["m.large"],
      pods: ["default/p-1"],
    });
  });

  it("02:Q-6 on a new node, with why nodes and pools before it refuse the pod", () => {
    const explanation = explained(
      problem()
        .pools(nodePool("first").weight(5).taint("x:NoSchedule"), nodePool("second"))
        .nodes(node("n").cpu("500m"))
        .pod(pod().cpu("1")),
    );
    expect(explanation.outcome).toMatchObject({ kind: "on-new-node", pool: "second" });
    expect(explanation.pools).toEqual([{ pool: "first", reasons: [{ code: "taint", taint: "x:NoSchedule" }] }]);
    expect(explanation.nodes).toMatchObject([{ node: "n", checks: [{ check: "resources" }] }]);
  });

  it("02:P-32 without a pool no pod is placed", () => {
    const explanation = explained(problem().pools().nodes(node("n")).pod(pod().cpu("1")));
    expect(explanation).toMatchObject({ outcome: { kind: "unplaced" }, suggestions: [] });
  });

  it("an unknown pod is not explained", () => {
    expect(explainPod(problem().build(), "default/nobody")).toBeUndefined();
  });
});
