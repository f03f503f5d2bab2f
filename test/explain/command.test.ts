import { describe, expect, it, vi } from "vitest";
import { explain } from "./run.ts";

const pool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements:
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
        - {key: kubernetes.io/os, operator: In, values: [linux]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
`;

function pod(name: string, spec: string): string {
  return `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}, labels: {app: ${name}}}\nspec: ${spec}\n`;
}

/** A NodeClaim with its Node, four cpus on demand. */
function claimed(name: string): string {
  const labels = `{karpenter.sh/nodepool: default, node.kubernetes.io/instance-type: c-4x-amd64-linux, topology.kubernetes.io/zone: test-zone-a, karpenter.sh/capacity-type: on-demand}`;
  return `apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: ${name}, labels: ${labels}}
spec: {nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, requirements: []}
---
apiVersion: v1
kind: Node
metadata: {name: ${name}}
`;
}

function asking(cpu: string): string {
  return `{containers: [{name: app, resources: {requests: {cpu: "${cpu}"}}}]}`;
}

const web = pod("web", asking("1"));
const huge = pod("huge", asking("300"));

const node = `apiVersion: v1
kind: Node
metadata: {name: node-a, labels: {kubernetes.io/hostname: node-a, topology.kubernetes.io/zone: test-zone-a}}
spec: {taints: [{key: old, effect: NoSchedule}]}
status: {capacity: {cpu: "4", memory: 8Gi, pods: "10"}, allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
${pod("app", `{nodeName: node-a, tolerations: [{operator: Exists}], containers: [{name: app, resources: {requests: {cpu: "3"}}}]}`)}`;

function given(...texts: readonly string[]) {
  return { files: { "in.yaml": texts.join("---\n") } };
}

const from = ["-f", "in.yaml", "--now", "2026-01-15T12:00:00Z"];

vi.setConfig({ testTimeout: 30_000 }); // the first test waits for the catalogue to be loaded

describe("karpenter explain pod", () => {
  it("ends with 0 and says where the pod goes", async () => {
    expect(await explain(["pod", "default/web", ...from], given(pool, web))).toEqual({
      out: `default/web can be scheduled: it gets a new node of NodePool default (cheapest type c-2x-amd64-linux).

Types:  c-2x-amd64-linux, s-2x-amd64-linux, m-2x-amd64-linux, c-4x-amd64-linux, s-4x-amd64-linux and 28 more
Price:  from $0.0543/hour (made up: no cloud offers these instance types)
`,
      err: "",
      code: 0,
    });
  });

  it("ends with 3, and tells the cause, pools, nodes and what would help", async () => {
    expect(await explain(["pod", "huge", ...from], given(pool, huge, node))).toEqual({
      out: `default/huge cannot be scheduled: the pod requests cpu 300; the nearest type of NodePool default, c-256x-amd64-linux, offers 255.9.

What to do, mildest first (each was checked: with it the pod can be scheduled):
  1. Lower the cpu request of container app to 255.9.
       kubectl patch pod huge -n default --type=json -p '[{"op":"replace","path":"/spec/containers/0/resources/requests/cpu","value":"255900m"}]' --dry-run=client -o json | kubectl replace --force -f -
     It then runs on a new node of NodePool default (c-256x-amd64-linux).
     The pod is deleted and created anew.

The existing node does not fit:
  node-a: the pod does not tolerate the taint old:NoSchedule of node node-a; the pod requests cpu 300; node node-a has 1 left
`,
      err: "",
      code: 3,
    });
  });

  it("prints the same as data", async () => {
    const { out, code } = await explain(["pod", "default/huge", "-o", "json", ...from], given(pool, huge, node));
    expect(code).toBe(3);
    expect(JSON.parse(out)).toMatchObject({
      pod: "default/huge",
      outcome: { kind: "unplaced", message: expect.stringContaining("no instance type has enough resources") },
      pools: [{ pool: "default", reasons: [{ code: "resources", asked: "300", available: "255900m" }] }],
      nodes: [{ node: "node-a", checks: [{ check: "taints" }, { check: "resources" }] }],
      suggestions: [{ edits: [{ op: "replace", value: "255900m" }], displaced: [] }],
      notes: [],
    });
  });

  it("02:V-4 explains pods that validation sets aside", async () => {
    const picky = pod("picky", `{nodeSelector: {kubernetes.io/hostname: node-a}, containers: [{name: app}]}`);
    const { out, code } = await explain(["pod", "picky", ...from], given(pool, picky));
    expect(out).toContain("default/picky cannot be scheduled: it is not considered for scheduling: ");
    expect(out).toContain("  1. Drop kubernetes.io/hostname from the pod's node selector.\n");
    expect(code).toBe(3);
  });

  it("02:V-5 takes a claim whose class binds it by itself as bound", async () => {
    const claim = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: quick, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: quick}
provisioner: disk.example.com
volumeBindingMode: Immediate
`;
    const db = pod(
      "db",
      `{containers: [{name: app}], volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}`,
    );
    const { out } = await explain(["pod", "db", ...from], given(pool, claim, db));
    expect(out).toContain("default/db can be scheduled: ");
    expect(out).toContain("note: PersistentVolumeClaim default/data is planned as if reached from every zone");
  });

  it("02:P-1 explains pods that are not to be placed", async () => {
    const gated = pod("gated", `{schedulingGates: [{name: wait}], containers: [{name: app}]}`);
    expect(await explain(["pod", "app", ...from], given(pool, node))).toEqual({
      out: "default/app is not a pending pod: it is already bound to node node-a.\n",
      err: "",
      code: 0,
    });
    const ran = await explain(["pod", "gated", ...from], given(pool, gated));
    expect([ran.out, ran.code]).toEqual(["default/gated is not a pending pod: it has scheduling gates (wait).\n", 3]);
  });

  it("ends with 1 and the closest names where there is no such pod, and where the input is bad", async () => {
    expect(await explain(["pod", "default/wbe", ...from], given(pool, web, huge))).toEqual({
      out: "",
      err: "error: there is no pod default/wbe; the closest names are default/web, default/huge\n",
      code: 1,
    });
    expect(await explain(["pod", "web", "-f", "missing.yaml"], given(web))).toMatchObject({ out: "", code: 1 });
  });

  it("ends with 2 where the command line is wrong", async () => {
    for (const args of [["pod"], ["pod", "web", "-f", "in.yaml", "-o", "xml"], [], ["planet"], ["pod/"]]) {
      const { code, out } = await explain(args, given(pool, web));
      expect([args, out, code]).toEqual([args, "", 2]);
    }
  });

  it("says so when there is no pool", async () => {
    const { out } = await explain(["pod", "web", ...from], given(web));
    expect(out).toContain("note: no NodePool was given");
  });
});

describe("karpenter explain node", () => {
  it("shows what runs there, what comes, and why others do not fit", async () => {
    expect(await explain(["node", "node-a", ...from], given(pool, web, huge, node))).toEqual({
      out: `Node node-a stays: Karpenter does not manage it.

Node node-a: 1 running, 0 incoming, 1 unschedulable pod does not fit.

RESOURCE  ALLOCATABLE  REQUESTED  INCOMING  LEFT
cpu                 4          3         0     1
memory            8Gi          0         0   8Gi
pods               10          1         0     9

RUNNING      CPU  MEMORY
default/app    3       0

Does not fit here:
  default/huge (unschedulable): the pod does not tolerate the taint old:NoSchedule of node node-a; the pod requests cpu 300; node node-a has 1 left
  default/web (scheduled elsewhere): the pod does not tolerate the taint old:NoSchedule of node node-a
`,
      err: "",
      code: 0,
    });
  });

  it("03:D-18 03:D-25 says why a node stays, what blocks it and until when, and what would unblock it", async () => {
    const busy = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  disruption: {consolidateAfter: 0s, budgets: [{nodes: "0", schedule: "0 9 * * *", duration: 8h}]}
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements: []
---
${["a", "b"].map((name) => claimed(name)).join("---\n")}
---
${pod("web", `{nodeName: a, containers: [{name: app, resources: {requests: {cpu: "1", memory: 1Gi}}}]}`)}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec: {selector: {matchLabels: {app: web}}, maxUnavailable: 1}
status: {disruptionsAllowed: 0}
`;
    const asked = ["node", "a", ...from];
    const { out, err, code } = await explain(asked, given(busy));
    expect([err, code]).toEqual(["", 0]);
    expect(
      out.split("\nNode a of")[0],
    ).toBe(`Node a of NodePool default stays: PodDisruptionBudget default/web allows no eviction of pod default/web now (and 1 more, below).
c-4x-amd64-linux, on-demand, $0.1086/hour, 1 pod to move

What blocks it, and what would unblock it:
  PodDisruptionBudget default/web allows no eviction of pod default/web now
    - wait until more of its pods are healthy
    - add replicas, raise maxUnavailable or lower minAvailable
  the budgets of NodePool default allow no disruption of underutilized nodes now
    ends 2026-01-15T17:00:00Z, in 5h
    - wait for the end of its window, or change spec.disruption.budgets[0] of NodePool default (nodes: "0", which is 0 now; schedule "0 9 * * *", duration 8h; ends in 5h)

Underutilized, if nothing blocked it: deleting it saves $0.1086/hour
  to b: default/web
`);
    const { out: json } = await explain([...asked, "-o", "json"], given(busy));
    expect(JSON.parse(json)).toMatchObject({
      node: "a",
      pool: "default",
      disruption: {
        outcome: "kept",
        blockers: [{ code: "pdb" }, { code: "budget", endsAtMs: Date.parse("2026-01-15T17:00:00Z") }],
      },
    });
  });

  it("03:D-51 says of a node that goes together with others which, and where its pods go; nothing of methods that are not for it", async () => {
    const pods = ["a", "b"].map((name) =>
      pod(`on-${name}`, `{nodeName: ${name}, containers: [{name: app, resources: {requests: {cpu: "500m"}}}]}`),
    );
    const all = pool.replace("spec:\n", 'spec:\n  disruption: {consolidateAfter: 0s, budgets: [{nodes: "100%"}]}\n');
    const { out } = await explain(["node", "a", ...from], given(all, claimed("a"), claimed("b"), ...pods));
    expect(
      out.split("\nNode a of")[0],
    ).toBe(`Node a of NodePool default would go now. Underutilized: replacing it together with another node saves $0.1629/hour.
c-4x-amd64-linux, on-demand, $0.1086/hour, 1 pod to move

Underutilized: replacing it together with another node saves $0.1629/hour
  goes together with: b
  to a new c-2x-amd64-linux of NodePool default (on-demand, $0.0543/hour): default/on-a
`);
  });

  it("03:D-16 knows no NodePool that the input does not have", async () => {
    const { out } = await explain(["node", "a", ...from], given(claimed("a"), web));
    expect(out).toContain("Node a of NodePool default stays: NodePool default does not exist");
  });

  it("prints the same as data, and ends with 1 where there is no such node", async () => {
    const { out } = await explain(["node", "node-a", "-o", "json", ...from], given(pool, web, node));
    expect(JSON.parse(out)).toMatchObject({ node: "node-a", isLeaving: false, running: [{ pod: "default/app" }] });
    expect(await explain(["node", "node-b", ...from], given(pool, node))).toEqual({
      out: "",
      err: "error: there is no node node-b in the input; the closest names are node-a\n",
      code: 1,
    });
  });
});
