import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.ts";
import type { PlanReport } from "../../src/cli/plan/plan-report.ts";
import { fakeIo } from "../conversion/fake-io.ts";

const kwok = readFileSync(join(import.meta.dirname, "..", "..", "examples", "kwok.yaml"), "utf8");

interface Planned {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function plan(texts: readonly string[], ...args: readonly string[]): Promise<Planned> {
  const io = fakeIo({ files: { "in.yaml": [kwok, ...texts].join("\n---\n") } });
  const code = await main(["plan", "-f", "in.yaml", ...args], io);
  return { code, out: io.out(), err: io.err() };
}

async function report(texts: readonly string[], ...args: readonly string[]): Promise<PlanReport> {
  const { out, err } = await plan(texts, "-o", "json", ...args);
  if (out === "") throw new Error(err);
  return JSON.parse(out) as PlanReport;
}

const podSpec = (cpu: string, more = "") =>
  `{${more}containers: [{name: app, image: app, resources: {requests: {cpu: "${cpu}"}}}]}`;

const deployment = (name: string, spec: string, cpu = "1") => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  selector: {matchLabels: {app: ${name}}}
  ${spec}
  template:
    metadata: {labels: {app: ${name}}}
    spec: ${podSpec(cpu)}`;

describe("Jobs are work, not 730 hours a month", () => {
  const ownNode = (kind: string) =>
    `affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {}, topologyKey: ${kind}}]}}, `;
  const job = `
apiVersion: batch/v1
kind: Job
metadata: {name: etl}
spec:
  template: {spec: ${podSpec("3", `restartPolicy: Never, ${ownNode("kubernetes.io/hostname")}`)}}`;

  it("a node that only runs them is marked, and is not in the monthly figure", async () => {
    const { newNodes, totals } = await report([deployment("web", "replicas: 1", "3"), job]);
    const [ofJob, ofWeb] = [...newNodes].sort((a, b) => (a.pods[0] ?? "").localeCompare(b.pods[0] ?? ""));
    expect([ofJob?.onlyJobs, ofWeb?.onlyJobs]).toEqual([true, undefined]);
    expect(totals.pricePerMonth).toBeCloseTo((ofWeb?.price ?? 0) * 730);
    expect(totals.jobsPricePerHour).toBeCloseTo(ofJob?.price ?? 0);
    expect(totals.pricePerHour).toBeCloseTo((ofWeb?.price ?? 0) + (ofJob?.price ?? 0));
    const { out } = await plan([deployment("web", "replicas: 1", "3"), job]);
    expect(out).toMatch(/only while jobs run:\s+default\/etl-0/);
    expect(out).toMatch(/\/month without \$\d+\.\d+\/hour while Jobs run/);
  });

  it("a node they share with other pods costs a month what it would without them", async () => {
    const shared = job.replace(ownNode("kubernetes.io/hostname"), "");
    const alone = await report([deployment("web", "replicas: 1", "3")]);
    const { newNodes, totals, notes } = await report([deployment("web", "replicas: 1", "3"), shared]);
    expect(newNodes).toHaveLength(1);
    expect(newNodes[0]?.onlyJobs).toBeUndefined();
    expect(totals.pricePerMonth).toBe(alone.totals.pricePerMonth);
    expect(totals.jobsPricePerHour).toBeCloseTo(totals.pricePerHour - alone.totals.pricePerHour);
    expect(notes).toEqual([
      `Jobs share nodes with other pods; the monthly price is that of a plan without them, $${alone.totals.pricePerHour.toFixed(4)}/hour`,
    ]);
  });
});

describe("workloads with an autoscaler", () => {
  const hpa = (target: string, { kind = "Deployment", range = "minReplicas: 2, maxReplicas: 9" } = {}) => `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: ${target}}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: ${kind}, name: ${target}}, ${range}}`;
  const podsWith = async (texts: readonly string[], ...args: readonly string[]) =>
    (await report(texts, ...args)).totals.pods;

  it.each([
    ["its own number", "replicas: 3", 3],
    ["at least the smallest", "", 2],
    ["at most the largest", "replicas: 20", 9],
    ["none when it is scaled to zero, which turns its autoscaler off", "replicas: 0", 0],
  ])("start with %s", async (_, spec, expected) => {
    expect(await podsWith([deployment("web", spec), hpa("web")])).toBe(expected);
  });

  it("are planned at either end of the range, which a note shows", async () => {
    const web = [deployment("web", "replicas: 3"), hpa("web")];
    expect(await podsWith(web, "--replicas", "min")).toBe(2);
    expect(await podsWith(web, "--replicas", "max")).toBe(9);
    expect((await report(web)).notes).toEqual([
      "autoscaled: Deployment default/web with 3 (2 to 9); plan the ends of the ranges with --replicas min or --replicas max",
    ]);
  });

  it("may be scaled by KEDA, down to nothing", async () => {
    const keda = `
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: web}
spec: {scaleTargetRef: {name: web}, maxReplicaCount: 4, triggers: [{type: cron, metadata: {}}]}`;
    const web = [deployment("web", "replicas: 3"), keda];
    expect(await podsWith(web)).toBe(3);
    expect(await podsWith(web, "--replicas", "min")).toBe(0);
    expect(await podsWith(web, "--replicas", "max")).toBe(4);
  });

  it("--replicas max adds pods to those that run", async () => {
    const owner = "apiVersion: apps/v1, kind: StatefulSet, name: db, uid: db, controller: true";
    const set = deployment("db", "replicas: 2").replace("Deployment", "StatefulSet");
    const pod = (name: string) =>
      `{apiVersion: v1, kind: Pod, metadata: {name: ${name}, ownerReferences: [{${owner}}]}, spec: ${podSpec("1")}}`;
    const texts = [set, pod("db-0"), pod("db-1"), hpa("db", { kind: "StatefulSet", range: "maxReplicas: 4" })];
    const { newNodes } = await report(texts, "--replicas", "max");
    expect(newNodes.flatMap(({ pods }) => pods).sort()).toEqual([0, 1, 2, 3].map((n) => `default/db-${n}`));
    expect((await report(texts)).notes).toEqual([expect.stringContaining("StatefulSet default/db with 2 (1 to 4)")]);
  });

  it("that are not in the input are named", async () => {
    const { notes } = await report([deployment("web", ""), hpa("api")]);
    expect(notes).toEqual([
      "HorizontalPodAutoscaler api is not used: its target Deployment default/api is not in the input",
    ]);
  });
});

describe("kinds that are no part of Kubernetes", () => {
  const other = (kind: string, spec: string, template = true) => `
apiVersion: ${kind === "Rollout" ? "argoproj.io/v1alpha1" : "apps.kruise.io/v1alpha1"}
kind: ${kind}
metadata: {name: other}
spec:
  ${spec}
  ownField: {any: thing}
${template ? `  template: {metadata: {labels: {app: other}}, spec: ${podSpec("1")}}` : ""}`;
  const placed = async (...texts: readonly string[]) =>
    (await report(texts)).newNodes.flatMap(({ pods }) => pods).sort();

  it.each(["Rollout", "CloneSet", "StatefulSet"])("make pods of their template: %s", async (kind) => {
    expect(await placed(other(kind, "replicas: 2"))).toEqual(["default/other-0", "default/other-1"]);
    expect(await placed(other(kind, "minReadySeconds: 1"))).toEqual(["default/other-0"]);
  });

  it("are ReplicationControllers too", async () => {
    const old = deployment("old", "replicas: 2")
      .replace("apps/v1", "v1")
      .replace("Deployment", "ReplicationController");
    expect(await placed(old.replace("{matchLabels: {app: old}}", "{app: old}"))).toHaveLength(2);
  });

  it("are named where the number of their pods is not known", async () => {
    const job = `{apiVersion: example.com/v1, kind: Train, metadata: {name: train}, spec: {roles: {Worker: {replicas: 2, template: {spec: ${podSpec("1")}}}}}}`;
    const { notes, totals } = await report([other("Runner", "any: thing"), job]);
    expect(totals.pods).toBe(0);
    expect(notes).toEqual([
      "the pods of Runner default/other are not planned: it has no spec.replicas, so their number is not known; add a Deployment like it",
      "the pods of Train default/train are not planned: its pod templates are not in spec.template; add Pods or Deployments like them",
      "ignored kinds: Train (1)",
    ]);
  });

  it("of a kind with several templates are planned as finite work, if it is a job", async () => {
    const job = `{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: train}, spec: {pytorchReplicaSpecs: {Worker: {replicas: 2, template: {spec: ${podSpec("1")}}}}}}`;
    const { notes, totals, newNodes } = await report([job]);
    expect(totals.pods).toBe(2);
    expect(notes.filter((note) => note.includes("PyTorchJob"))).toEqual([]);
    expect(newNodes).toMatchObject([{ pods: ["default/train-worker-0", "default/train-worker-1"], onlyJobs: true }]);
  });

  it("a Rollout runs the template of the Deployment it refers to", async () => {
    const ref = (more = "") =>
      other("Rollout", `replicas: 2\n  workloadRef: {kind: Deployment, name: web${more}}`, false);
    expect(await placed(deployment("web", "replicas: 0"), ref())).toEqual(["default/other-0", "default/other-1"]);
    expect(await placed(deployment("web", "replicas: 1"), ref(", scaleDown: onsuccess"))).toHaveLength(2);
    const both = await report([deployment("web", "replicas: 1"), ref()]);
    expect(both.totals.pods).toBe(3);
    expect(both.notes).toEqual([
      "Deployment default/web keeps its own pods (1) beside those of Rollout default/other; set its replicas to 0, or spec.workloadRef.scaleDown of the Rollout",
    ]);
    expect((await report([ref()])).notes).toEqual([
      "the pods of Rollout default/other are not planned: its Deployment web is not in the input; add its file",
    ]);
  });

  it("are read as strictly as Deployments", async () => {
    const { err, code } = await plan([other("Rollout", "replicas: lots")]);
    expect(err).toMatch(/error: spec\.replicas: is the string "lots"/);
    expect(code).toBe(1);
    expect(
      (await plan([other("Rollout", "replicas: 1").replace("containers:", "toleration: [], containers:")])).err,
    ).toMatch(/warning: spec\.template\.spec\.toleration: .*did you mean tolerations\?/);
  });
});

describe("mistakes in workloads", () => {
  it.each([
    ["kind: Deploymnet", /warning: kind: there is no kind Deploymnet in apps\/v1; did you mean Deployment\?/],
    ["kind: Statefulset", /warning: kind: there is no kind Statefulset in apps\/v1; did you mean StatefulSet\?/],
    ["kind: Job", /warning: apiVersion: there is no kind Job in apps\/v1; did you mean apiVersion batch\/v1\?/],
  ])("a kind that does not exist is a warning, with the one that was meant: %s", async (kind, expected) => {
    expect((await plan([deployment("web", "replicas: 1").replace("kind: Deployment", kind)])).err).toMatch(expected);
    expect((await plan([deployment("web", "").replace("apps/v1", "apps.example.com/v1")])).err).toBe("");
  });

  it("02 §1.5 a version that does not exist is an error: its fields could not be checked", async () => {
    const { err, code } = await plan([deployment("web", "replicas: 1").replace("apps/v1", "apps/v9")]);
    expect(err).toMatch(
      /error: apiVersion: there is no kind Deployment in "apps\/v9"; did you mean apiVersion apps\/v1\?/,
    );
    expect(code).toBe(1);
    expect((await plan([deployment("web", "replicas: 1").replace("apps/v1", "apps/v1beta2")])).code).toBe(0);
  });

  it("a field that does not exist is a warning, with the field that was meant", async () => {
    const { err, code } = await plan([deployment("web", "replica: 3")]);
    expect(err).toMatch(/warning: spec\.replica: unknown field; it is ignored; did you mean replicas\?/);
    expect(code).toBe(0);
  });

  it.each([
    ["Deployment", deployment("web", "").replace("matchLabels: {app: web}", "matchLabels: {app: wbe}")],
    [
      "Rollout",
      deployment("web", "")
        .replace("apps/v1", "argoproj.io/v1alpha1")
        .replace("Deployment", "Rollout")
        .replace("matchLabels: {app: web}", "matchLabels: {app: wbe}"),
    ],
    [
      "expressions",
      deployment("web", "").replace(
        "matchLabels: {app: web}",
        "matchExpressions: [{key: app, operator: NotIn, values: [web]}]",
      ),
    ],
  ])("a selector that does not select its own pods is an error: %s", async (_, text) => {
    const { err, code } = await plan([text]);
    expect(err).toMatch(
      /error: spec\.selector: does not select the pods of spec\.template, whose labels are \{"app":"web"\}/,
    );
    expect(code).toBe(1);
  });

  it("a workload without a selector is an error that shows the selector it lacks", async () => {
    const { err, code } = await plan([deployment("web", "").replace("selector: {matchLabels: {app: web}}", "")]);
    expect(err).toMatch(
      /error: spec\.selector: is missing: without it a Deployment does not know its own pods \(expected: labels of spec\.template\.metadata\.labels: \{"matchLabels":\{"app":"web"\}\}\)/,
    );
    expect(code).toBe(1);
  });
});

describe("what admission adds to pods", () => {
  const runtimeClass = `
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: vm}
handler: vm
overhead: {podFixed: {cpu: "2"}}
scheduling: {nodeSelector: {runtime: vm}, tolerations: [{key: vm, operator: Exists}]}`;
  const sandboxed = deployment("web", "replicas: 1").replace("{containers", "{runtimeClassName: vm, containers");
  const [pool = ""] = kwok.split("---");
  const tainted = pool
    .replace(
      "    spec:\n",
      "    metadata: {labels: {runtime: vm}}\n    spec:\n      taints: [{key: vm, effect: NoSchedule}]\n",
    )
    .replace("name: default", "name: vm");

  it("the overhead, selector and tolerations of a RuntimeClass", async () => {
    const { newNodes } = await report([tainted, runtimeClass, sandboxed]);
    expect(newNodes).toMatchObject([{ nodePool: "vm", requests: { cpu: "3" } }]);
  });

  it("nothing of a RuntimeClass that is not there, which is said", async () => {
    const { newNodes, notes } = await report([sandboxed]);
    expect(newNodes).toMatchObject([{ nodePool: "default", requests: { cpu: "1" } }]);
    expect(notes).toEqual([
      "RuntimeClass vm is not in the input: its pods are planned without its overhead; add it with -f",
    ]);
  });

  it("requests by the LimitRange of their namespace, where they have none", async () => {
    const limits = (namespace: string, item: string) =>
      `{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: ${namespace}}, spec: {limits: [{type: Container, ${item}}]}}`;
    const bare = deployment("web", "replicas: 1").replace(', resources: {requests: {cpu: "1"}}', "");
    const cpu = async (item: string, namespace = "default", text = bare) =>
      (await report([limits(namespace, item), text])).newNodes[0]?.requests["cpu"];
    expect(await cpu("defaultRequest: {cpu: 700m}")).toBe("700m");
    expect(await cpu("default: {cpu: 600m}")).toBe("600m");
    expect(await cpu("max: {cpu: 500m}")).toBe("500m");
    expect(await cpu("defaultRequest: {cpu: 700m}", "elsewhere")).toBeUndefined();
    expect(await cpu("defaultRequest: {cpu: 700m}", "default", deployment("web", "replicas: 1"))).toBe("1");
  });
});

describe("volumes that are not all in the input", () => {
  const set = (claim: string, replicas = 2) => `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: ${podSpec("1")}}
  volumeClaimTemplates:
    - {metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}${claim}}}`;
  const storageClass = (name: string, more: string) =>
    `{apiVersion: storage.k8s.io/v1, kind: StorageClass, provisioner: csi.example.com, metadata: {name: ${name}, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}, ${more}}`;
  const zonal =
    "allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [test-zone-b]}]}]";
  const volume = (name: string, more = "") =>
    `{apiVersion: v1, kind: PersistentVolume, metadata: {name: ${name}}, spec: {capacity: {storage: 5Gi}, accessModes: [ReadWriteOnce], csi: {driver: csi.example.com, volumeHandle: v}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [test-zone-c]}]}]}}${more}}}`;
  const claim = (spec: string) =>
    `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: disk}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, ${spec}}}`;
  const user = `{apiVersion: v1, kind: Pod, metadata: {name: user}, spec: ${podSpec("1", "volumes: [{name: d, persistentVolumeClaim: {claimName: disk}}], ")}}`;
  const zones = ({ newNodes }: PlanReport) => [...new Set(newNodes.flatMap((node) => node.zones))];

  it("claims without a class, and of one that is missing, are planned with an assumed one", async () => {
    const unnamed = await report([set("")]);
    expect(unnamed.unschedulable).toEqual({});
    expect(unnamed.notes).toEqual([
      "no default StorageClass is in the input: PersistentVolumeClaims default/data-db-0, default/data-db-1 are planned as if volumes were made where the pods run; add the class with -f",
    ]);
    const both = await report([set(", storageClassName: gp3")]);
    expect(both.notes).toEqual([
      expect.stringContaining(" PersistentVolumeClaims default/data-db-0, default/data-db-1 are "),
    ]);
    const named = await report([set(", storageClassName: gp3", 1)]);
    expect(named.unschedulable).toEqual({});
    expect(named.notes).toEqual([
      "StorageClass gp3 is not in the input: PersistentVolumeClaim default/data-db-0 is planned as if volumes were made where the pods run; add the class with -f",
    ]);
  });

  it("claims without a class get the default one, and go where it allows", async () => {
    const plan = await report([set(""), storageClass("std", `volumeBindingMode: WaitForFirstConsumer, ${zonal}`)]);
    expect(zones(plan)).toEqual(["test-zone-b"]);
    expect(plan.notes).toEqual([]);
  });

  it("a class that binds at once: where its volumes will be is not known, which is said", async () => {
    const plan = await report([set("", 1), storageClass("std", `volumeBindingMode: Immediate, ${zonal}`)]);
    expect(zones(plan)).toEqual(["test-zone-b"]);
    expect(plan.notes).toEqual([
      expect.stringMatching(/^PersistentVolumeClaim default\/data-db-0 is planned as if reached/),
    ]);
  });

  it.each([
    ["the claim names", claim("volumeName: pv, storageClassName: ''"), volume("pv")],
    [
      "is reserved for the claim",
      claim("storageClassName: ''"),
      volume("pv", ", claimRef: {namespace: default, name: disk}"),
    ],
    ["fits a claim that wants no class", claim("storageClassName: ''"), volume("pv")],
  ])("a pod goes where the volume is that %s", async (_, disk, pv) => {
    const plan = await report([user, disk, pv]);
    expect(plan.unschedulable).toEqual({});
    expect(zones(plan)).toEqual(["test-zone-c"]);
    expect(plan.notes).toEqual([]);
  });

  it("a volume serves one claim", async () => {
    const second = [user, claim("storageClassName: ''")].map((text) => text.replace(/user|disk/g, (one) => `${one}2`));
    const plan = await report([user, claim("storageClassName: ''"), ...second, volume("pv")]);
    expect(Object.keys(plan.unschedulable)).toEqual(["default/user2"]);
  });

  it("a volume that is not in the input is assumed, which is said", async () => {
    const plan = await report([user, claim("volumeName: pv")]);
    expect(plan.unschedulable).toEqual({});
    expect(plan.notes).toEqual([expect.stringMatching(/^PersistentVolume pv is not in the input: /)]);
  });

  it("ephemeral volumes get their claims", async () => {
    const pod = user.replace(
      "persistentVolumeClaim: {claimName: disk}",
      "ephemeral: {volumeClaimTemplate: {spec: {storageClassName: std}}}",
    );
    const plan = await report([pod, storageClass("std", `volumeBindingMode: WaitForFirstConsumer, ${zonal}`)]);
    expect(plan.unschedulable).toEqual({});
    expect(zones(plan)).toEqual(["test-zone-b"]);
  });

  it("a claim that is not in the input keeps its pod out, and so does everything with --rounds 1", async () => {
    expect((await report([user])).refusals).toMatchObject([{ pod: "default/user", code: "invalid-pod" }]);
    expect((await report([set("", 1)], "--rounds", "1")).refusals).toMatchObject([{ pod: "default/db-0" }]);
  });
});
