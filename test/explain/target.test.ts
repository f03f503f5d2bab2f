import { describe, expect, it, vi } from "vitest";
import { explain } from "./run.ts";

const pool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements: [{key: kubernetes.io/os, operator: In, values: [linux]}]
`;

function workload(kind: string, name: string, cpu: string): string {
  const spec = `{replicas: 2, selector: {matchLabels: {app: ${name}}}, serviceName: x, template: {metadata: {labels: {app: ${name}}}, spec: {restartPolicy: ${kind === "Job" ? "Never" : "Always"}, containers: [{name: app, resources: {requests: {cpu: "${cpu}"}}}]}}}`;
  const trimmed =
    kind === "Job"
      ? spec.replace(/replicas: 2, selector: \{.*?\}\}, serviceName: x, /, "")
      : kind === "StatefulSet"
        ? spec
        : spec.replace("serviceName: x, ", "");
  return `apiVersion: ${kind === "Job" ? "batch" : "apps"}/v1\nkind: ${kind}\nmetadata: {name: ${name}, namespace: shop}\nspec: ${trimmed}\n`;
}

const running = `apiVersion: v1
kind: Pod
metadata: {name: busy, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: idle, uid: i, controller: true}]}
spec: {nodeName: node-1, containers: [{name: app}]}
---
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {capacity: {cpu: "4", memory: 8Gi, pods: "10"}, allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
`;

const files = {
  "in.yaml": [
    pool,
    workload("Deployment", "web", "999"),
    workload("StatefulSet", "db", "999"),
    workload("Job", "run", "999"),
    workload("Deployment", "fine", "1"),
    running,
  ].join("---\n"),
};

vi.setConfig({ testTimeout: 30_000 }); // the first test waits for the catalogue to be loaded

const asked = (...args: readonly string[]) =>
  explain([...args, "-f", "in.yaml", "--now", "2026-01-15T12:00:00Z"], { files });

describe("what is explained", () => {
  it.each([
    ["deployment/web", "shop/web-0", "deployment web -n shop"],
    ["deploy/web", "shop/web-0", "deployment web -n shop"],
    ["rs/web", "shop/web-0", "deployment web -n shop"],
    ["statefulset/db", "shop/db-0", "statefulset db -n shop"],
    ["job/run", "shop/run-0", "job run -n shop"],
  ])("a pending pod of %s", async (target, pod, command) => {
    const { out, err, code } = await asked(target, "-n", "shop");
    expect(err).toBe("");
    expect(out).toContain(`${pod} cannot be scheduled: `);
    expect(out).toContain(`kubectl patch ${command} `);
    expect(out).toMatch(new RegExp(`note: ${pod} is .* of \\w+ shop/`));
    expect(code).toBe(3);
  });

  it("the kind may stand alone, the namespace before the name", async () => {
    expect((await asked("deployments", "web", "--namespace", "shop")).out).toContain("shop/web-0 cannot be scheduled");
    expect((await asked("sts/shop/db")).out).toContain("shop/db-0 cannot be scheduled");
  });

  it("a prefix is a pending pod's, and the others are named", async () => {
    expect((await asked("pod", "we", "-n", "shop")).out).toContain(
      "note: shop/web-0 is the first of 2 pending pods whose name begins with we; the others: shop/web-1\n",
    );
    expect((await asked("pod/web-1")).out).toContain("note: there is no pod default/web-1; this is shop/web-1\n");
  });

  it("nothing of what runs, or is not there", async () => {
    expect(await asked("rs/idle", "-n", "shop")).toMatchObject({
      out: "ReplicaSet shop/idle has no pending pod: its pod has a node.\n",
      code: 0,
    });
    expect(await asked("deployment/nope", "-n", "shop")).toMatchObject({
      err: "error: no pod of Deployment shop/nope was found; check its name and namespace\n",
      code: 1,
    });
    expect((await asked("deployment/fine", "-n", "shop")).out).toContain("shop/fine-0 can be scheduled");
  });
});
