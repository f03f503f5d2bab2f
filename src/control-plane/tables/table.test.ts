import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import { builtInPrinter } from "./built-in-printer.ts";
import { customPrinter } from "./custom-printer.ts";
import { tableOf } from "./table.ts";

const now = Date.parse("2026-01-01T01:00:00Z");
const created = "2026-01-01T00:30:00Z";

function row(group: string, object: { kind: string } & Record<string, unknown>): readonly unknown[] {
  const whole = {
    apiVersion: "v1",
    ...object,
    metadata: { name: "x", creationTimestamp: created, ...(object["metadata"] as object) },
  };
  const printer = builtInPrinter({ group, kind: object.kind });
  return printer.columns.map((column) => column.cell(whole as unknown as KubeObject, now));
}

function podRow(pod: Record<string, unknown>): readonly unknown[] {
  return row("", { kind: "Pod", ...pod }).slice(1, 4);
}

const containers = [{ name: "a" }, { name: "b" }];
const running = { ready: true, restartCount: 0, state: { running: {} } };

describe("pods", () => {
  it("05 §3 shows a pending pod", () => {
    expect(podRow({ spec: { containers }, status: { phase: "Pending" } })).toEqual(["0/2", "Pending", "0"]);
  });

  it("05 §3 shows a running pod with its address and node", () => {
    const pod = {
      kind: "Pod",
      spec: { containers, nodeName: "n1", readinessGates: [{ conditionType: "g" }] },
      status: {
        phase: "Running",
        podIPs: [{ ip: "10.0.0.1" }],
        conditions: [{ type: "g", status: "True" }],
        containerStatuses: [
          { name: "a", ...running },
          { name: "b", ...running },
        ],
      },
    };
    expect(row("", pod)).toEqual(["x", "2/2", "Running", "0", "30m", "10.0.0.1", "n1", "<none>", "1/1"]);
  });

  it("05 §3 prefers the reason of a waiting container", () => {
    const waiting = { name: "a", restartCount: 0, ready: false, state: { waiting: { reason: "ContainerCreating" } } };
    const status = { phase: "Pending", containerStatuses: [waiting] };
    expect(podRow({ spec: { containers }, status })).toEqual(["0/2", "ContainerCreating", "0"]);
  });

  it("05 §3 counts restarts and says when the last was", () => {
    const restarted = {
      ...running,
      restartCount: 3,
      lastState: { terminated: { finishedAt: "2026-01-01T00:59:00Z" } },
    };
    const status = { phase: "Running", containerStatuses: [{ name: "a", ...restarted }] };
    expect(podRow({ spec: { containers: [{ name: "a" }] }, status })).toEqual(["1/1", "Running", "3 (60s ago)"]);
  });

  it("05 §3 shows Terminating and Completed", () => {
    const metadata = { deletionTimestamp: created };
    expect(podRow({ metadata, spec: { containers }, status: { phase: "Running" } })[1]).toBe("Terminating");
    const done = { name: "a", state: { terminated: { exitCode: 0, reason: "Completed" } } };
    const status = { phase: "Succeeded", containerStatuses: [done] };
    expect(podRow({ metadata, spec: { containers }, status })[1]).toBe("Completed");
    const failed = { name: "a", state: { terminated: { exitCode: 3 } } };
    expect(podRow({ spec: { containers }, status: { phase: "Failed", containerStatuses: [failed] } })[1]).toBe(
      "ExitCode:3",
    );
  });

  it("05 §3 shows the progress of init containers and counts sidecars", () => {
    const initContainers = [{ name: "i" }, { name: "s", restartPolicy: "Always" }];
    const waiting = { name: "i", restartCount: 0, state: { running: {} } };
    expect(
      podRow({ spec: { containers, initContainers }, status: { phase: "Pending", initContainerStatuses: [waiting] } }),
    ).toEqual(["0/3", "Init:0/2", "0"]);
    const ended = { name: "i", state: { terminated: { exitCode: 0 } } };
    const sidecar = { name: "s", ...running, started: true };
    const status = {
      phase: "Running",
      initContainerStatuses: [ended, sidecar],
      containerStatuses: [
        { name: "a", ...running },
        { name: "b", ...running },
      ],
    };
    expect(podRow({ spec: { containers, initContainers }, status })).toEqual(["3/3", "Running", "0"]);
  });

  it("05 §3 names the scheduling gate", () => {
    const conditions = [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }];
    expect(podRow({ spec: { containers }, status: { phase: "Pending", conditions } })[1]).toBe("SchedulingGated");
  });
});

describe("other kinds", () => {
  it("05 §3 shows nodes", () => {
    const labels = { "node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/edge": "" };
    const node = {
      kind: "Node",
      metadata: { labels },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: "Ready", status: "True" }],
        nodeInfo: { kubeletVersion: "v1.36.1", kernelVersion: "6.1", architecture: "arm64" },
        addresses: [{ type: "InternalIP", address: "10.1.0.1" }],
      },
    };
    expect(row("", node)).toEqual([
      ...["x", "Ready,SchedulingDisabled", "edge,worker", "30m", "v1.36.1"],
      ...["10.1.0.1", "<none>", "<unknown>", "6.1 (arm64)", "<unknown>"],
    ]);
    expect(row("", { kind: "Node" }).slice(0, 3)).toEqual(["x", "Unknown", "<none>"]);
  });

  it("05 §3 shows deployments", () => {
    const template = { spec: { containers: [{ name: "c", image: "i:1" }] } };
    const spec = { replicas: 3, template, selector: { matchLabels: { b: "2", a: "1" } } };
    const status = { readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 };
    expect(row("apps", { kind: "Deployment", spec, status })).toEqual(["x", "1/3", 2, 1, "30m", "c", "i:1", "a=1,b=2"]);
  });

  it("05 §3 shows jobs", () => {
    const status = {
      succeeded: 1,
      startTime: created,
      completionTime: "2026-01-01T00:31:30Z",
      conditions: [{ type: "Complete", status: "True" }],
    };
    const job = { kind: "Job", spec: { completions: 2 }, status };
    expect(row("batch", job).slice(0, 5)).toEqual(["x", "Complete", "1/2", "90s", "30m"]);
  });

  it("05 §3 shows disruption budgets", () => {
    const budget = { kind: "PodDisruptionBudget", spec: { minAvailable: "50%" }, status: { disruptionsAllowed: 2 } };
    expect(row("policy", budget)).toEqual(["x", "50%", "N/A", 2, "30m"]);
  });

  it("05 §3 shows events by when they were last seen", () => {
    const event = {
      kind: "Event",
      type: "Warning",
      reason: "Failed",
      message: " no room \n",
      count: 4,
      firstTimestamp: created,
      lastTimestamp: "2026-01-01T00:59:30Z",
      involvedObject: { kind: "Pod", name: "p" },
      source: { component: "scheduler", host: "h" },
    };
    expect(row("", event)).toEqual(["30s", "Warning", "Failed", "pod/p", "", "scheduler, h", "no room", "30m", 4, "x"]);
  });

  it("05 §3 shows name and age of other kinds", () => {
    expect(row("example.com", { kind: "__proto__" })).toEqual(["x", "30m"]);
  });

  it("05:CP-S3 shows any object without failing", () => {
    const hostile = { spec: "text", status: ["list"], metadata: { name: "x" } };
    for (const kind of ["Pod", "Node", "Event", "Service", "PersistentVolume", "ConfigMap"]) {
      expect(row("", { kind, ...hostile }).length).toBeGreaterThan(1);
    }
  });
});

describe("tables", () => {
  const printer = customPrinter([
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Weight", type: "integer", jsonPath: ".spec.weight", priority: 1 },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ]);
  const pool: KubeObject = {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name: "p", creationTimestamp: created },
    ...{ spec: { weight: 7 }, status: { conditions: [{ type: "Ready", status: "True" }] } },
  };
  const options = { printer, now, apiVersion: "meta.k8s.io/v1", metadata: { resourceVersion: "5" } } as const;

  it("05 §3 shows the columns of a CRD, dates as ages", () => {
    const table = tableOf([pool], { ...options, includeObject: "None", withHeader: true });
    expect(table["rows"]).toEqual([{ cells: ["p", "True", 7, "30m"] }]);
    expect(table["columnDefinitions"]).toMatchObject([
      { name: "Name", format: "name" },
      { name: "Ready", priority: 0 },
      { name: "Weight", priority: 1, type: "integer" },
      { name: "Age", type: "date" },
    ]);
  });

  it("05 §1 includes as much of the object as requested", () => {
    const object = (includeObject: "Metadata" | "Object") =>
      (tableOf([pool], { ...options, includeObject, withHeader: false })["rows"] as { object: unknown }[])[0]?.object;
    expect(object("Object")).toBe(pool);
    expect(object("Metadata")).toEqual({
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata: pool.metadata,
    });
  });

  it("05 §1 includes column definitions only when asked to", () => {
    expect(tableOf([], { ...options, includeObject: "None", withHeader: false })["columnDefinitions"]).toBeNull();
  });

  it("05 §3 leaves cells empty without a value of the right type", () => {
    const bare = { ...pool, spec: { weight: "heavy" }, status: {} } as KubeObject;
    const table = tableOf([bare], { ...options, includeObject: "None", withHeader: false });
    expect(table["rows"]).toEqual([{ cells: ["p", null, null, "30m"] }]);
  });
});
