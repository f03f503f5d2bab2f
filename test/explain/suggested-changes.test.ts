import { describe, expect, it } from "vitest";
import { labels } from "../../src/api/labels.ts";
import { candidateChanges } from "../../src/core/explain/candidate-changes.ts";
import { describeReason } from "../../src/core/explain/describe-reason.ts";
import { explainPod } from "../../src/core/explain/explain-pod.ts";
import { analyzePlacement } from "../../src/core/explain/placement-analysis.ts";
import { simulateFor } from "../../src/core/explain/simulation.ts";
import { instanceType } from "../builders/instance-type.ts";
import { node } from "../builders/node.ts";
import { nodePool } from "../builders/node-pool.ts";
import { pod } from "../builders/pod.ts";
import { type ProblemBuilder, problem } from "../builders/problem.ts";

const podKey = "default/p-0";

/** Everything that is said of a refused pod: why, at which pool and node, and every change that is tried, in order. */
function said(asked: ProblemBuilder): string {
  const built = asked.build();
  const simulation = simulateFor(built, podKey);
  const explanation = explainPod(built, podKey);
  if (simulation === undefined || explanation === undefined) throw new Error("there is no such pod");
  const pools = explanation.pools.map(
    ({ pool, reasons }) =>
      `pool ${pool}: ${reasons.map((reason) => describeReason(reason, { kind: "pool", name: pool })).join("; ")}`,
  );
  const nodes = explanation.nodes.map(
    ({ node: name, checks }) =>
      `node ${name}: ${checks.map(({ check, reason }) => `${check} ${describeReason(reason, { kind: "node", name })}`).join("; ")}`,
  );
  const changes = candidateChanges(analyzePlacement(built, simulation)).flatMap(({ text, weight, steps, edits }) => [
    `${Number(weight.toFixed(3))} in ${steps}: ${text}`,
    ...edits.map(({ object, op, path, value }) =>
      `    ${object.kind} ${object.name} ${op} ${path} ${JSON.stringify(value) ?? ""}`.trimEnd(),
    ),
  ]);
  return [explanation.cause, ...pools, ...nodes, ...changes].join("\n");
}

describe("what is said of a refused pod, and every change that is tried for it", () => {
  it("02:N-1 taints of pools and nodes", () => {
    const pools = [nodePool("one").taint("dedicated=gpu:NoSchedule"), nodePool("two").taint("slow:NoExecute")];
    const asked = problem()
      .pools(...pools)
      .nodes(node("n").taint("old:NoSchedule").cpu("4"))
      .pod(pod().cpu("1"));
    expect(said(asked)).toMatchInlineSnapshot(`
      "none of 2 NodePools fits; the nearest: the pod does not tolerate the taint slow:NoExecute of NodePool two
      pool two: the pod does not tolerate the taint slow:NoExecute of NodePool two
      pool one: the pod does not tolerate the taint dedicated=gpu:NoSchedule of NodePool one
      node n: taints the pod does not tolerate the taint old:NoSchedule of node n
      1 in 1: add a toleration for dedicated=gpu:NoSchedule to the pod
          Pod p-0 add /spec/tolerations [{"key":"dedicated","operator":"Equal","value":"gpu","effect":"NoSchedule"}]
      1 in 1: add a toleration for slow:NoExecute to the pod
          Pod p-0 add /spec/tolerations [{"key":"slow","operator":"Exists","effect":"NoExecute"}]
      1.5 in 1: add a toleration for old:NoSchedule to the pod
          Pod p-0 add /spec/tolerations [{"key":"old","operator":"Exists","effect":"NoSchedule"}]
      4 in 1: remove the taint dedicated=gpu:NoSchedule from NodePool one
          NodePool one remove /spec/template/spec/taints/0
      4 in 1: remove the taint slow:NoExecute from NodePool two
          NodePool two remove /spec/template/spec/taints/0"
    `);
  });

  it("02:N-2 labels: slips, values the pool has not, and keys nobody knows", () => {
    const asked = problem()
      .pools(
        nodePool("web").label("team", "blue").zones("a", "b"),
        nodePool("batch").requires("team", "In", "red", "green"),
      )
      .pod(pod().cpu("1").on("team", "bleu").needs(["zone", "In", "c"], ["tier", "Exists"]));
    expect(said(asked)).toMatchInlineSnapshot(`
      "none of 2 NodePools fits; the nearest: the pod asks for the label tier, a label NodePool batch does not have; also, the pod asks for team=bleu, but NodePool batch has team in (green, red)
      pool batch: the pod asks for the label tier, a label NodePool batch does not have; the pod asks for team=bleu, but NodePool batch has team in (green, red)
      pool web: the pod asks for the label tier, a label NodePool web does not have; the pod asks for team=bleu, but NodePool web has team=blue (did you mean blue?); the pod asks for topology.kubernetes.io/zone=c, but NodePool web has topology.kubernetes.io/zone in (a, b)
      5.51 in 3: drop tier from the pod's node affinity; and did you mean team: blue? Change it from bleu in the pod's node selector; and also allow topology.kubernetes.io/zone a in the pod's node affinity
          Pod p-0 replace /spec/nodeSelector/team "blue"
          Pod p-0 add /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/0/values/- "a"
          Pod p-0 remove /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/1
      5.52 in 3: drop tier from the pod's node affinity; and did you mean team: blue? Change it from bleu in the pod's node selector; and also allow topology.kubernetes.io/zone b in the pod's node affinity
          Pod p-0 replace /spec/nodeSelector/team "blue"
          Pod p-0 add /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/0/values/- "b"
          Pod p-0 remove /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/1
      6.01 in 3: label the nodes of NodePool web with tier=true; and did you mean team: blue? Change it from bleu in the pod's node selector; and also allow topology.kubernetes.io/zone a in the pod's node affinity
          NodePool web add /spec/template/metadata/labels/tier "true"
          Pod p-0 replace /spec/nodeSelector/team "blue"
          Pod p-0 add /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/0/values/- "a"
      6.02 in 3: label the nodes of NodePool web with tier=true; and did you mean team: blue? Change it from bleu in the pod's node selector; and also allow topology.kubernetes.io/zone b in the pod's node affinity
          NodePool web add /spec/template/metadata/labels/tier "true"
          Pod p-0 replace /spec/nodeSelector/team "blue"
          Pod p-0 add /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/0/values/- "b"
      4.8 in 2: drop tier from the pod's node affinity; and allow team bleu in NodePool batch
          NodePool batch add /spec/template/spec/requirements/0/values/- "bleu"
          Pod p-0 remove /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/1
      5 in 2: drop tier from the pod's node affinity; and change team in the pod's node selector from bleu to green
          Pod p-0 replace /spec/nodeSelector/team "green"
          Pod p-0 remove /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/1
      5.3 in 2: label the nodes of NodePool batch with tier=true; and allow team bleu in NodePool batch
          NodePool batch add /spec/template/metadata {"labels":{"tier":"true"}}
          NodePool batch add /spec/template/spec/requirements/0/values/- "bleu"
      5.5 in 2: label the nodes of NodePool batch with tier=true; and change team in the pod's node selector from bleu to green
          NodePool batch add /spec/template/metadata {"labels":{"tier":"true"}}
          Pod p-0 replace /spec/nodeSelector/team "green"
      6 in 2: drop tier from the pod's node affinity; and drop team from the pod's node selector
          Pod p-0 remove /spec/nodeSelector/team
          Pod p-0 remove /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/1
      6.5 in 2: label the nodes of NodePool batch with tier=true; and drop team from the pod's node selector
          NodePool batch add /spec/template/metadata {"labels":{"tier":"true"}}
          Pod p-0 remove /spec/nodeSelector/team
      7 in 2: drop tier from the pod's node affinity; and drop the requirement on team from NodePool batch
          NodePool batch remove /spec/template/spec/requirements/0
          Pod p-0 remove /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/1
      7.5 in 2: label the nodes of NodePool batch with tier=true; and drop the requirement on team from NodePool batch
          NodePool batch add /spec/template/metadata {"labels":{"tier":"true"}}
          NodePool batch remove /spec/template/spec/requirements/0
      7.51 in 3: drop tier from the pod's node affinity; and drop team from the pod's node selector; and also allow topology.kubernetes.io/zone a in the pod's node affinity
          Pod p-0 add /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/0/values/- "a"
          Pod p-0 remove /spec/nodeSelector/team
          Pod p-0 remove /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/1
      7.52 in 3: drop tier from the pod's node affinity; and drop team from the pod's node selector; and also allow topology.kubernetes.io/zone b in the pod's node affinity
          Pod p-0 add /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/0/values/- "b"
          Pod p-0 remove /spec/nodeSelector/team
          Pod p-0 remove /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/1
      8.01 in 3: label the nodes of NodePool web with tier=true; and drop team from the pod's node selector; and also allow topology.kubernetes.io/zone a in the pod's node affinity
          NodePool web add /spec/template/metadata/labels/tier "true"
          Pod p-0 add /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/0/values/- "a"
          Pod p-0 remove /spec/nodeSelector/team
      8.02 in 3: label the nodes of NodePool web with tier=true; and drop team from the pod's node selector; and also allow topology.kubernetes.io/zone b in the pod's node affinity
          NodePool web add /spec/template/metadata/labels/tier "true"
          Pod p-0 add /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/0/values/- "b"
          Pod p-0 remove /spec/nodeSelector/team"
    `);
  });

  it("02:N-2 02:R-5 requirements with NotIn, Gt and DoesNotExist", () => {
    const asked = problem()
      .types(instanceType("four").cpu(4).label("karpenter.kwok.sh/instance-cpu", "4"))
      .pools(nodePool().label("team", "blue"))
      .pod(
        pod()
          .cpu("1")
          .needs(
            ["team", "NotIn", "blue"],
            ["karpenter.kwok.sh/instance-cpu", "Gt", "8"],
            ["zone", "NotIn", "a", "b", "c"],
          ),
      );
    expect(said(asked)).toMatchInlineSnapshot(`
      "the pod asks for team other than blue, but NodePool default has team=blue; also, no instance type of NodePool default matches the required labels, and none is large enough, and none is available in that zone and capacity type
      pool default: the pod asks for team other than blue, but NodePool default has team=blue; no instance type of NodePool default matches the required labels, and none is large enough, and none is available in that zone and capacity type
      6 in 3: drop team from the pod's node affinity; and also allow karpenter.kwok.sh/instance-cpu 4 in the pod's node affinity; and also allow topology.kubernetes.io/zone a in the pod's node affinity
          Pod p-0 replace /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/1/values ["3"]
          Pod p-0 replace /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/2/values ["b","c"]
          Pod p-0 remove /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/0
      6.01 in 3: drop team from the pod's node affinity; and also allow karpenter.kwok.sh/instance-cpu 4 in the pod's node affinity; and also allow topology.kubernetes.io/zone b in the pod's node affinity
          Pod p-0 replace /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/1/values ["3"]
          Pod p-0 replace /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/2/values ["a","c"]
          Pod p-0 remove /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/0
      9 in 3: drop team from the pod's node affinity; and drop karpenter.kwok.sh/instance-cpu from the pod's node affinity; and drop topology.kubernetes.io/zone from the pod's node affinity
          Pod p-0 remove /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/2
          Pod p-0 remove /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/1
          Pod p-0 remove /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/0"
    `);
  });

  it("02:F-1 sizes: containers, daemons, existing nodes", () => {
    const asked = problem()
      .types(instanceType("four").cpu(4).memory("8Gi"), instanceType("eight").cpu(8).memory("4Gi"))
      .daemons(pod().cpu("500m"))
      .nodes(node("near").cpu("3"))
      .pod(pod().cpu("6").memory("6Gi"));
    expect(said(asked)).toMatchInlineSnapshot(`
      "the pod requests memory 6Gi; the nearest type of NodePool default, eight, offers 4Gi
      pool default: the pod requests memory 6Gi; the nearest type of NodePool default, eight, offers 4Gi
      node near: resources the pod requests cpu 6; node near has 2.5 left
      4 in 1: lower the memory request of container app to 4Gi
          Pod p-0 replace /spec/containers/0/resources/requests/memory "4Gi"
      4.51 in 1: lower the cpu request of container app to 3.5
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "3500m"
      6 in 1: lower the cpu request of container app to 2.5
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "2500m""
    `);
  });

  it("02:H-2 limits of cpu and of nodes", () => {
    const pools = [nodePool("cpu").limit("cpu", "5"), nodePool("nodes").limit("nodes", "1")];
    const asked = problem()
      .types(instanceType("eight").cpu(8))
      .pools(...pools)
      .nodes(node("a").pool("cpu").cpu("500m"), node("b").pool("nodes").cpu("500m"))
      .pod(pod().cpu("6"));
    expect(said(asked)).toMatchInlineSnapshot(`
      "none of 2 NodePools fits; the nearest: NodePool nodes is limited to 1 node (spec.limits.nodes) and has 1
      pool nodes: NodePool nodes is limited to 1 node (spec.limits.nodes) and has 1
      pool cpu: NodePool cpu is limited to cpu 5 (spec.limits) and uses 0.5; the smallest type that would do, eight, has 8
      node a: resources the pod requests cpu 6; node a has 0.5 left
      node b: resources the pod requests cpu 6; node b has 0.5 left
      2.412 in 1: raise the cpu limit of NodePool cpu by 3.5 to 8.5
          NodePool cpu replace /spec/limits/cpu "8500m"
      2.5 in 1: raise the nodes limit of NodePool nodes by 1 to 2
          NodePool nodes replace /spec/limits/nodes "2"
      2.583 in 1: raise the cpu limit of NodePool cpu by 7 to 12
          NodePool cpu replace /spec/limits/cpu "12"
      2.667 in 1: raise the nodes limit of NodePool nodes by 2 to 3
          NodePool nodes replace /spec/limits/nodes "3"
      2.737 in 1: raise the cpu limit of NodePool cpu by 14 to 19
          NodePool cpu replace /spec/limits/cpu "19"
      2.8 in 1: raise the nodes limit of NodePool nodes by 4 to 5
          NodePool nodes replace /spec/limits/nodes "5"
      2.848 in 1: raise the cpu limit of NodePool cpu by 28 to 33
          NodePool cpu replace /spec/limits/cpu "33"
      2.889 in 1: raise the nodes limit of NodePool nodes by 8 to 9
          NodePool nodes replace /spec/limits/nodes "9"
      5 in 1: drop the cpu limit of NodePool cpu
          NodePool cpu remove /spec/limits/cpu
      5 in 1: drop the nodes limit of NodePool nodes
          NodePool nodes remove /spec/limits/nodes
      8 in 1: lower the cpu request of container app to 0.5
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "500m""
    `);
  });

  it("02:F-1 offerings that are sold out, and capacity types", () => {
    const asked = problem()
      .types(
        instanceType("m").cpu(4).soldOutIn("c"),
        instanceType("n").cpu(8).soldOutIn("a").soldOutIn("b").soldOutIn("c"),
      )
      .pools(nodePool().requires("capacity-type", "In", "on-demand"))
      .pod(pod().cpu("1").on("zone", "c").needs(["capacity-type", "In", "spot"]));
    expect(said(asked)).toMatchInlineSnapshot(`
      "the pod asks for karpenter.sh/capacity-type=spot, but NodePool default has karpenter.sh/capacity-type=on-demand; also, no instance type of NodePool default is large enough, and none is available in that zone and capacity type
      pool default: the pod asks for karpenter.sh/capacity-type=spot, but NodePool default has karpenter.sh/capacity-type=on-demand; no instance type of NodePool default is large enough, and none is available in that zone and capacity type
      3.52 in 2: change topology.kubernetes.io/zone in the pod's node selector from c to a; and also allow karpenter.sh/capacity-type on-demand in the pod's node affinity
          Pod p-0 replace /spec/nodeSelector/topology.kubernetes.io~1zone "a"
          Pod p-0 add /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/0/values/- "on-demand"
      3.53 in 2: change topology.kubernetes.io/zone in the pod's node selector from c to b; and also allow karpenter.sh/capacity-type on-demand in the pod's node affinity
          Pod p-0 replace /spec/nodeSelector/topology.kubernetes.io~1zone "b"
          Pod p-0 add /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/0/values/- "on-demand"
      3.8 in 2: allow karpenter.sh/capacity-type spot in NodePool default; and change topology.kubernetes.io/zone in the pod's node selector from c to a
          NodePool default add /spec/template/spec/requirements/0/values/- "spot"
          Pod p-0 replace /spec/nodeSelector/topology.kubernetes.io~1zone "a"
      3.81 in 2: allow karpenter.sh/capacity-type spot in NodePool default; and change topology.kubernetes.io/zone in the pod's node selector from c to b
          NodePool default add /spec/template/spec/requirements/0/values/- "spot"
          Pod p-0 replace /spec/nodeSelector/topology.kubernetes.io~1zone "b"
      6.02 in 2: drop topology.kubernetes.io/zone from the pod's node selector; and drop karpenter.sh/capacity-type from the pod's node affinity
          Pod p-0 remove /spec/nodeSelector/topology.kubernetes.io~1zone
          Pod p-0 remove /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution
      7 in 2: drop the requirement on karpenter.sh/capacity-type from NodePool default; and drop topology.kubernetes.io/zone from the pod's node selector
          NodePool default remove /spec/template/spec/requirements/0
          Pod p-0 remove /spec/nodeSelector/topology.kubernetes.io~1zone"
    `);
  });

  it("02:X-25 spread: skew, minDomains, a preference", () => {
    const wide = pod().label("app", "wide");
    const asked = problem()
      .pools(nodePool().zones("a"))
      .nodes(node("n-a").zone("a").cpu("300m").running(wide, wide), node("n-b").zone("b").cpu("300m"))
      .pod(wide.cpu("1").spread("zone", { minDomains: 3 }));
    expect(said(asked)).toMatchInlineSnapshot(`
      "the pod's spread over topology.kubernetes.io/zone asks for 3 domains (minDomains), and NodePool default can use 2 (matching pods: a: 2, b: 0)
      pool default: the pod's spread over topology.kubernetes.io/zone asks for 3 domains (minDomains), and NodePool default can use 2 (matching pods: a: 2, b: 0)
      node n-b: resources the pod requests cpu 1; node n-b has 0.3 left
      node n-a: resources the pod requests cpu 1; node n-a has 0.3 left; topology the pod's spread over topology.kubernetes.io/zone allows no domain that node n-a can use (matching pods: a: 2)
      1.8 in 1: allow topology.kubernetes.io/zone b in NodePool default
          NodePool default add /spec/template/spec/requirements/0/values/- "b"
      1.8 in 1: allow topology.kubernetes.io/zone c in NodePool default
          NodePool default add /spec/template/spec/requirements/0/values/- "c"
      2 in 1: lower minDomains of the spread over topology.kubernetes.io/zone from 3 to 2
          Pod p-0 replace /spec/topologySpreadConstraints/0/minDomains 2
      2.2 in 1: raise maxSkew of the spread over topology.kubernetes.io/zone from 1 to 3
          Pod p-0 replace /spec/topologySpreadConstraints/0/maxSkew 3
      3 in 1: make the spread over topology.kubernetes.io/zone a preference (whenUnsatisfiable: ScheduleAnyway)
          Pod p-0 replace /spec/topologySpreadConstraints/0/whenUnsatisfiable "ScheduleAnyway"
      4 in 1: drop the requirement on topology.kubernetes.io/zone from NodePool default
          NodePool default remove /spec/template/spec/requirements/0
      4 in 1: drop the spread over topology.kubernetes.io/zone
          Pod p-0 remove /spec/topologySpreadConstraints/0
      6.7 in 1: lower the cpu request of container app to 0.3
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "300m""
    `);
  });

  it("02:X-30 affinity to pods that are nowhere, over zones and hosts", () => {
    const asked = problem().pod(pod().cpu("1").near("zone", { app: "nobody" }).near("host", { app: "none" }));
    expect(said(asked)).toMatchInlineSnapshot(`
      "the pod must run beside pods with app=nobody (pod affinity over topology.kubernetes.io/zone), and none runs where NodePool default can launch nodes (matching pods: a: 0, b: 0, c: 0); also, the pod must run beside pods with app=none (pod affinity over kubernetes.io/hostname), and none runs where NodePool default can launch nodes
      pool default: the pod must run beside pods with app=nobody (pod affinity over topology.kubernetes.io/zone), and none runs where NodePool default can launch nodes (matching pods: a: 0, b: 0, c: 0); the pod must run beside pods with app=none (pod affinity over kubernetes.io/hostname), and none runs where NodePool default can launch nodes
      6 in 2: make the pod affinity over topology.kubernetes.io/zone a preference; and make the pod affinity over kubernetes.io/hostname a preference
          Pod p-0 add /spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution [{"weight":100,"podAffinityTerm":{"topologyKey":"topology.kubernetes.io/zone","labelSelector":{"matchLabels":{"app":"nobody"}}}},{"weight":100,"podAffinityTerm":{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"app":"none"}}}}]
          Pod p-0 remove /spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/1
          Pod p-0 remove /spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/0
      7 in 2: drop the pod affinity over topology.kubernetes.io/zone; and make the pod affinity over kubernetes.io/hostname a preference
          Pod p-0 add /spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution [{"weight":100,"podAffinityTerm":{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"app":"none"}}}}]
          Pod p-0 remove /spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/1
          Pod p-0 remove /spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/0
      7 in 2: make the pod affinity over topology.kubernetes.io/zone a preference; and drop the pod affinity over kubernetes.io/hostname
          Pod p-0 add /spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution [{"weight":100,"podAffinityTerm":{"topologyKey":"topology.kubernetes.io/zone","labelSelector":{"matchLabels":{"app":"nobody"}}}}]
          Pod p-0 remove /spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/1
          Pod p-0 remove /spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/0
      8 in 2: drop the pod affinity over topology.kubernetes.io/zone; and drop the pod affinity over kubernetes.io/hostname
          Pod p-0 remove /spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/1
          Pod p-0 remove /spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/0"
    `);
  });

  it("02:X-41 02:X-40 anti-affinity of its own and of others", () => {
    const shy = pod().label("app", "shy").apart("zone", { kind: "loud" });
    const everywhere = ["a", "b", "c"].map((zone) => node(`n-${zone}`).zone(zone).cpu("500m").running(shy));
    const asked = problem()
      .nodes(...everywhere)
      .pod(pod().cpu("1").label("kind", "loud").apart("zone", { app: "shy" }));
    expect(said(asked)).toMatchInlineSnapshot(`
      "the pod must not run beside pods with app=shy (pod anti-affinity over topology.kubernetes.io/zone), and they are wherever NodePool default can launch nodes (matching pods: a: 1, b: 1, c: 1)
      pool default: the pod must not run beside pods with app=shy (pod anti-affinity over topology.kubernetes.io/zone), and they are wherever NodePool default can launch nodes (matching pods: a: 1, b: 1, c: 1)
      node n-a: resources the pod requests cpu 1; node n-a has 0.5 left; topology the pod must not run beside the pods it selects (pod anti-affinity over topology.kubernetes.io/zone), and they are wherever node n-a can launch nodes (matching pods: a: 1); topology the pod must not run beside the pods it selects (pod anti-affinity over topology.kubernetes.io/zone), and they are wherever node n-a can launch nodes (matching pods: a: 1)
      node n-b: resources the pod requests cpu 1; node n-b has 0.5 left; topology the pod must not run beside the pods it selects (pod anti-affinity over topology.kubernetes.io/zone), and they are wherever node n-b can launch nodes (matching pods: b: 1); topology the pod must not run beside the pods it selects (pod anti-affinity over topology.kubernetes.io/zone), and they are wherever node n-b can launch nodes (matching pods: b: 1)
      node n-c: resources the pod requests cpu 1; node n-c has 0.5 left; topology the pod must not run beside the pods it selects (pod anti-affinity over topology.kubernetes.io/zone), and they are wherever node n-c can launch nodes (matching pods: c: 1); topology the pod must not run beside the pods it selects (pod anti-affinity over topology.kubernetes.io/zone), and they are wherever node n-c can launch nodes (matching pods: c: 1)
      3 in 1: make the pod anti-affinity over topology.kubernetes.io/zone a preference
          Pod p-0 add /spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution [{"weight":100,"podAffinityTerm":{"topologyKey":"topology.kubernetes.io/zone","labelSelector":{"matchLabels":{"app":"shy"}}}}]
          Pod p-0 remove /spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/0
      4 in 1: drop the pod anti-affinity over topology.kubernetes.io/zone
          Pod p-0 remove /spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/0
      5 in 1: remove the label kind from the pod (other pods' anti-affinity selects it)
          Pod p-0 remove /metadata/labels/kind
      11 in 3: make the pod anti-affinity of default/n-a-pod-0 over topology.kubernetes.io/zone a preference; and make the pod anti-affinity of default/n-b-pod-0 over topology.kubernetes.io/zone a preference; and make the pod anti-affinity of default/n-c-pod-0 over topology.kubernetes.io/zone a preference
          Pod n-a-pod-0 add /spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution [{"weight":100,"podAffinityTerm":{"topologyKey":"topology.kubernetes.io/zone","labelSelector":{"matchLabels":{"kind":"loud"}}}}]
          Pod n-b-pod-0 add /spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution [{"weight":100,"podAffinityTerm":{"topologyKey":"topology.kubernetes.io/zone","labelSelector":{"matchLabels":{"kind":"loud"}}}}]
          Pod n-c-pod-0 add /spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution [{"weight":100,"podAffinityTerm":{"topologyKey":"topology.kubernetes.io/zone","labelSelector":{"matchLabels":{"kind":"loud"}}}}]
          Pod n-a-pod-0 remove /spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/0
          Pod n-b-pod-0 remove /spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/0
          Pod n-c-pod-0 remove /spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/0"
    `);
  });

  it("02:N-3a 02:W-2 volumes: bound elsewhere, and a class that allows other zones", () => {
    const asked = problem()
      .pools(nodePool().zones("a"))
      .volumes({ claim: "data", zones: [["b"]] }, { claim: "late", zones: [["c"]], isUnbound: true })
      .pod(pod().cpu("1").volume("data").volume("late"));
    expect(said(asked)).toMatchInlineSnapshot(`
      "its volumes are in different places: no value of topology.kubernetes.io/zone suits all of them
      pool default: its volumes are in different places: no value of topology.kubernetes.io/zone suits all of them
      4 in 1: allow topology.kubernetes.io/zone a in storage class class-of-late (allowedTopologies)
          StorageClass class-of-late add /allowedTopologies/0/matchLabelExpressions/0/values/- "a"
      4 in 1: allow topology.kubernetes.io/zone b in storage class class-of-late (allowedTopologies)
          StorageClass class-of-late add /allowedTopologies/0/matchLabelExpressions/0/values/- "b"
      5.81 in 2: allow topology.kubernetes.io/zone b in NodePool default; and allow topology.kubernetes.io/zone a in storage class class-of-late (allowedTopologies)
          NodePool default add /spec/template/spec/requirements/0/values/- "b"
          StorageClass class-of-late add /allowedTopologies/0/matchLabelExpressions/0/values/- "a"
      5.82 in 2: allow topology.kubernetes.io/zone c in NodePool default; and allow topology.kubernetes.io/zone a in storage class class-of-late (allowedTopologies)
          NodePool default add /spec/template/spec/requirements/0/values/- "c"
          StorageClass class-of-late add /allowedTopologies/0/matchLabelExpressions/0/values/- "a"
      8.01 in 2: drop the requirement on topology.kubernetes.io/zone from NodePool default; and allow topology.kubernetes.io/zone b in storage class class-of-late (allowedTopologies)
          StorageClass class-of-late add /allowedTopologies/0/matchLabelExpressions/0/values/- "b"
          NodePool default remove /spec/template/spec/requirements/0"
    `);
  });

  it("02:E-4 host ports and volume limits of existing nodes", () => {
    const asked = problem()
      .pools(nodePool().taint("x:NoSchedule"))
      .nodes(
        node("full").cpu("4").running(pod().hostPort(80)),
        node("tight").cpu("4").volumeLimit("disk.example.com", 0),
      )
      .volumes({ claim: "data" })
      .pod(pod().cpu("1").hostPort(80).volume("data"));
    expect(said(asked)).toMatchInlineSnapshot(`
      "the pod does not tolerate the taint x:NoSchedule of NodePool default
      pool default: the pod does not tolerate the taint x:NoSchedule of NodePool default
      node full: host-ports host port 80/TCP of node full is taken by default/full-pod-0
      node tight: volume-limits node tight can attach 0 volumes of driver disk.example.com; with this pod it would have 1
      1 in 1: add a toleration for x:NoSchedule to the pod
          Pod p-0 add /spec/tolerations [{"key":"x","operator":"Exists","effect":"NoSchedule"}]
      3.5 in 1: drop the pod's host ports
          Pod p-0 remove /spec/containers/0/ports/0/hostPort
      4 in 1: remove the taint x:NoSchedule from NodePool default
          NodePool default remove /spec/template/spec/taints/0"
    `);
  });

  it("02:F-2 02:T-6 minValues that cannot be had, and a pool that matches nothing", () => {
    const asked = problem()
      .types(instanceType("one"), instanceType("two").cpu(8))
      .pools(nodePool("few").minValues("type", 2), nodePool("none").zones("z9"))
      .pod(pod().cpu("6"));
    expect(said(asked)).toMatchInlineSnapshot(`
      "none of 2 NodePools fits; the nearest: NodePool few requires 2 values of node.kubernetes.io/instance-type (minValues); only 1 would be left
      pool few: NodePool few requires 2 values of node.kubernetes.io/instance-type (minValues); only 1 would be left
      pool none: the requirements of NodePool none match no available instance type
      1.8 in 1: allow topology.kubernetes.io/zone a in NodePool none
          NodePool none add /spec/template/spec/requirements/0/values/- "a"
      1.8 in 1: lower minValues of node.kubernetes.io/instance-type in NodePool few from 2 to 1
          NodePool few replace /spec/template/spec/requirements/0/minValues 1
      1.81 in 1: allow topology.kubernetes.io/zone b in NodePool none
          NodePool none add /spec/template/spec/requirements/0/values/- "b"
      4 in 1: drop minValues of node.kubernetes.io/instance-type from NodePool few
          NodePool few remove /spec/template/spec/requirements/0/minValues
      4 in 1: drop the requirement on topology.kubernetes.io/zone from NodePool none
          NodePool none remove /spec/template/spec/requirements/0
      5.82 in 2: allow topology.kubernetes.io/zone a in NodePool none; and lower the cpu request of container app to 4
          NodePool none add /spec/template/spec/requirements/0/values/- "a"
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "4"
      5.83 in 2: allow topology.kubernetes.io/zone b in NodePool none; and lower the cpu request of container app to 4
          NodePool none add /spec/template/spec/requirements/0/values/- "b"
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "4"
      8.02 in 2: drop the requirement on topology.kubernetes.io/zone from NodePool none; and lower the cpu request of container app to 4
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "4"
          NodePool none remove /spec/template/spec/requirements/0"
    `);
  });

  it("02:D-1 resource claims", () => {
    expect(said(problem().pod(pod().cpu("1").resourceClaim("gpu")))).toMatchInlineSnapshot(`
      "the pod has resource claims (Dynamic Resource Allocation), which are not supported
      4 in 1: drop the pod's resource claims
          Pod p-0 remove /spec/resourceClaims"
    `);
  });

  it("02:N-1 02:N-2 02:F-1 several things at once, at several pools", () => {
    const asked = problem()
      .types(instanceType("m").cpu(4))
      .pools(nodePool("far").taint("x:NoSchedule").zones("a").weight(9), nodePool("near"))
      .pod(pod().cpu("4100m").on("zone", "b").on(labels.arch, "arm64"));
    expect(said(asked)).toMatchInlineSnapshot(`
      "none of 2 NodePools fits; the nearest: the pod requests cpu 4.1; the nearest type of NodePool near, m, offers 4
      pool near: the pod requests cpu 4.1; the nearest type of NodePool near, m, offers 4
      pool far: the pod does not tolerate the taint x:NoSchedule of NodePool far; the pod asks for topology.kubernetes.io/zone=b, but NodePool far has topology.kubernetes.io/zone=a; no instance type of NodePool far is large enough
      2.146 in 1: lower the cpu request of container app to 4
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "4"
      4.156 in 2: change topology.kubernetes.io/zone in the pod's node selector from b to a; and lower the cpu request of container app to 4
          Pod p-0 replace /spec/nodeSelector/topology.kubernetes.io~1zone "a"
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "4"
      4.166 in 2: change topology.kubernetes.io/zone in the pod's node selector from b to c; and lower the cpu request of container app to 4
          Pod p-0 replace /spec/nodeSelector/topology.kubernetes.io~1zone "c"
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "4"
      5.156 in 2: drop topology.kubernetes.io/zone from the pod's node selector; and lower the cpu request of container app to 4
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "4"
          Pod p-0 remove /spec/nodeSelector/topology.kubernetes.io~1zone
      4.946 in 3: add a toleration for x:NoSchedule to the pod; and allow topology.kubernetes.io/zone b in NodePool far; and lower the cpu request of container app to 4
          Pod p-0 add /spec/tolerations [{"key":"x","operator":"Exists","effect":"NoSchedule"}]
          NodePool far add /spec/template/spec/requirements/0/values/- "b"
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "4"
      5.156 in 3: add a toleration for x:NoSchedule to the pod; and change topology.kubernetes.io/zone in the pod's node selector from b to a; and lower the cpu request of container app to 4
          Pod p-0 add /spec/tolerations [{"key":"x","operator":"Exists","effect":"NoSchedule"}]
          Pod p-0 replace /spec/nodeSelector/topology.kubernetes.io~1zone "a"
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "4"
      6.156 in 3: add a toleration for x:NoSchedule to the pod; and drop topology.kubernetes.io/zone from the pod's node selector; and lower the cpu request of container app to 4
          Pod p-0 add /spec/tolerations [{"key":"x","operator":"Exists","effect":"NoSchedule"}]
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "4"
          Pod p-0 remove /spec/nodeSelector/topology.kubernetes.io~1zone
      7.146 in 3: add a toleration for x:NoSchedule to the pod; and drop the requirement on topology.kubernetes.io/zone from NodePool far; and lower the cpu request of container app to 4
          Pod p-0 add /spec/tolerations [{"key":"x","operator":"Exists","effect":"NoSchedule"}]
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "4"
          NodePool far remove /spec/template/spec/requirements/0
      7.946 in 3: remove the taint x:NoSchedule from NodePool far; and allow topology.kubernetes.io/zone b in NodePool far; and lower the cpu request of container app to 4
          NodePool far add /spec/template/spec/requirements/0/values/- "b"
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "4"
          NodePool far remove /spec/template/spec/taints/0
      8.156 in 3: remove the taint x:NoSchedule from NodePool far; and change topology.kubernetes.io/zone in the pod's node selector from b to a; and lower the cpu request of container app to 4
          Pod p-0 replace /spec/nodeSelector/topology.kubernetes.io~1zone "a"
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "4"
          NodePool far remove /spec/template/spec/taints/0
      9.156 in 3: remove the taint x:NoSchedule from NodePool far; and drop topology.kubernetes.io/zone from the pod's node selector; and lower the cpu request of container app to 4
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "4"
          NodePool far remove /spec/template/spec/taints/0
          Pod p-0 remove /spec/nodeSelector/topology.kubernetes.io~1zone
      10.146 in 3: remove the taint x:NoSchedule from NodePool far; and drop the requirement on topology.kubernetes.io/zone from NodePool far; and lower the cpu request of container app to 4
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "4"
          NodePool far remove /spec/template/spec/taints/0
          NodePool far remove /spec/template/spec/requirements/0
      6.966 in 4: add a toleration for x:NoSchedule to the pod; and allow topology.kubernetes.io/zone c in NodePool far; and change topology.kubernetes.io/zone in the pod's node selector from b to c; and lower the cpu request of container app to 4
          Pod p-0 add /spec/tolerations [{"key":"x","operator":"Exists","effect":"NoSchedule"}]
          NodePool far add /spec/template/spec/requirements/0/values/- "c"
          Pod p-0 replace /spec/nodeSelector/topology.kubernetes.io~1zone "c"
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "4"
      9.966 in 4: remove the taint x:NoSchedule from NodePool far; and allow topology.kubernetes.io/zone c in NodePool far; and change topology.kubernetes.io/zone in the pod's node selector from b to c; and lower the cpu request of container app to 4
          NodePool far add /spec/template/spec/requirements/0/values/- "c"
          Pod p-0 replace /spec/nodeSelector/topology.kubernetes.io~1zone "c"
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "4"
          NodePool far remove /spec/template/spec/taints/0
      10.166 in 4: add a toleration for x:NoSchedule to the pod; and drop the requirement on topology.kubernetes.io/zone from NodePool far; and drop topology.kubernetes.io/zone from the pod's node selector; and lower the cpu request of container app to 4
          Pod p-0 add /spec/tolerations [{"key":"x","operator":"Exists","effect":"NoSchedule"}]
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "4"
          NodePool far remove /spec/template/spec/requirements/0
          Pod p-0 remove /spec/nodeSelector/topology.kubernetes.io~1zone
      13.166 in 4: remove the taint x:NoSchedule from NodePool far; and drop the requirement on topology.kubernetes.io/zone from NodePool far; and drop topology.kubernetes.io/zone from the pod's node selector; and lower the cpu request of container app to 4
          Pod p-0 replace /spec/containers/0/resources/requests/cpu "4"
          NodePool far remove /spec/template/spec/taints/0
          NodePool far remove /spec/template/spec/requirements/0
          Pod p-0 remove /spec/nodeSelector/topology.kubernetes.io~1zone"
    `);
  });
});
