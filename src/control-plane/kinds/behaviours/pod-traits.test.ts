import { describe, expect, it } from "vitest";
import { pod, refusal, types } from "../../../../test/contracts/api-objects.ts";
import { apiWorld } from "../../../../test/world/api-world.ts";
import type { KubeObject } from "../../../api/object.ts";
import { qosClass } from "./pod-traits.ts";

const at = (name: string) => ({ name, namespace: "default" });

describe("pods (05 §5)", () => {
  it("get what API servers fill in", async () => {
    const { client } = apiWorld();
    const { spec, status, metadata } = await client.create(types.pods, pod("p"));
    expect(metadata.generation).toBe(1);
    expect(status).toEqual({ phase: "Pending", qosClass: "BestEffort" });
    const noExecute = { operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 };
    expect(spec).toEqual({
      containers: [
        {
          name: "main",
          image: "main:1",
          imagePullPolicy: "IfNotPresent",
          resources: {},
          terminationMessagePath: "/dev/termination-log",
          terminationMessagePolicy: "File",
        },
      ],
      dnsPolicy: "ClusterFirst",
      enableServiceLinks: true,
      preemptionPolicy: "PreemptLowerPriority",
      priority: 0,
      restartPolicy: "Always",
      schedulerName: "default-scheduler",
      securityContext: {},
      serviceAccount: "default",
      serviceAccountName: "default",
      terminationGracePeriodSeconds: 30,
      tolerations: [
        { key: "node.kubernetes.io/not-ready", ...noExecute },
        { key: "node.kubernetes.io/unreachable", ...noExecute },
      ],
    });
  });

  it("ask for their limits where they ask for nothing, then for the namespace's defaults", async () => {
    const { client } = apiWorld();
    const limits = [{ type: "Container", default: { cpu: "2", memory: "1Gi" }, defaultRequest: { cpu: "500m" } }];
    const range = { apiVersion: "v1", kind: "LimitRange", metadata: at("range"), spec: { limits } };
    await client.create(types.limitRanges, range);
    const containers = [
      { name: "a", image: "a" },
      { name: "b", image: "b", resources: { limits: { cpu: "4" } } },
    ];
    const { spec } = await client.create(types.pods, pod("p", { containers }));
    const resources = (spec as { containers: { resources: unknown }[] }).containers.map((one) => one.resources);
    expect(resources[0]).toEqual({ limits: { cpu: "2", memory: "1Gi" }, requests: { cpu: "500m", memory: "1Gi" } });
    expect(resources[1]).toEqual({ limits: { cpu: "4", memory: "1Gi" }, requests: { cpu: "4", memory: "1Gi" } });
  });

  it("get their priority from its class, or from the default one", async () => {
    const { client } = apiWorld();
    const made = await client.create(types.pods, pod("p", { priorityClassName: "system-node-critical" }));
    expect(made.spec).toMatchObject({ priority: 2_000_001_000 });
    expect((await refusal(client.create(types.pods, pod("q", { priorityClassName: "none" })))).status?.message).toBe(
      'pods "q" is forbidden: no PriorityClass with name none was found',
    );
    const low = { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name: "low" } };
    const fields = { value: -5, globalDefault: true, preemptionPolicy: "Never" };
    await client.create(types.priorityClasses, { ...low, ...fields } as KubeObject);
    expect((await client.create(types.pods, pod("r"))).spec).toMatchObject({
      priority: -5,
      priorityClassName: "low",
      preemptionPolicy: "Never",
    });
  });

  it("carry the overhead of their runtime", async () => {
    const { client } = apiWorld();
    const runtime = { apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", metadata: { name: "vm" }, handler: "vm" };
    const extra = { overhead: { podFixed: { cpu: "250m" } }, scheduling: { nodeSelector: { vm: "yes" } } };
    await client.create(types.runtimeClasses, { ...runtime, ...extra } as KubeObject);
    const { spec } = await client.create(types.pods, pod("p", { runtimeClassName: "vm", nodeSelector: { a: "b" } }));
    expect(spec).toMatchObject({ overhead: { cpu: "250m" }, nodeSelector: { a: "b", vm: "yes" } });
  });

  it("are of the class their resources make them", () => {
    const of = (...resources: object[]) => qosClass({ containers: resources.map((one) => ({ resources: one })) });
    const full = { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1000m", memory: "1024Mi" } };
    expect(of({}, {})).toBe("BestEffort");
    expect(of(full, full)).toBe("Guaranteed");
    expect(of(full, {})).toBe("Burstable");
    expect(of({ requests: { cpu: "1" } })).toBe("Burstable");
    expect(of({ ...full, requests: { cpu: "500m", memory: "1Gi" } })).toBe("Burstable");
  });

  it("stay what they are, but for their images and a few more", async () => {
    const { client } = apiWorld();
    await client.create(types.pods, pod("p"));
    const patch = (spec: object) => client.patch(types.pods, at("p"), { kind: "strategic", body: { spec } });
    expect((await patch({ containers: [{ name: "main", image: "main:2" }] })).metadata.generation).toBe(2);
    expect((await refusal(patch({ nodeName: "n1" }))).status?.details?.causes?.[0]).toMatchObject({
      reason: "FieldValueForbidden",
      field: "spec",
    });
    expect((await refusal(patch({ nodeSelector: { a: "b" } }))).code).toBe("invalid");
    expect((await refusal(patch({ schedulingGates: [{ name: "g" }] }))).code).toBe("invalid");
  });

  it("wait behind their gates, and may still choose nodes until then", async () => {
    const { client } = apiWorld();
    const gated = await client.create(types.pods, pod("p", { schedulingGates: [{ name: "g" }] }));
    expect(gated.status).toMatchObject({ conditions: [{ type: "PodScheduled", reason: "SchedulingGated" }] });
    const body = { spec: { schedulingGates: null, nodeSelector: { a: "b" } } };
    const open = await client.patch(types.pods, at("p"), { kind: "merge", body });
    expect(open.spec).toMatchObject({ nodeSelector: { a: "b" } });
  });

  it.each([
    ["no containers", { containers: [] }, "spec.containers"],
    ["a container without image", { containers: [{ name: "a" }] }, "spec.containers[0].image"],
    [
      "two of one name",
      {
        containers: [
          { name: "a", image: "a" },
          { name: "a", image: "b" },
        ],
      },
      "spec.containers[1].name",
    ],
    ["an odd restart policy", { restartPolicy: "Sometimes" }, "spec.restartPolicy"],
    [
      "a request above its limit",
      { containers: [{ name: "a", image: "a", resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } }] },
      "spec.containers[0].resources.requests",
    ],
    [
      "an unknown volume",
      { containers: [{ name: "a", image: "a", volumeMounts: [{ name: "v", mountPath: "/v" }] }] },
      "spec.containers[0].volumeMounts[0].name",
    ],
  ])("are refused with %s", async (_, spec, field) => {
    const { client } = apiWorld();
    const error = await refusal(client.create(types.pods, pod("p", spec)));
    expect(error.status?.details?.causes?.map((cause) => cause.field)).toEqual([field]);
  });

  it("05:CP-S3 of the wrong shape are a bad request", async () => {
    const { client } = apiWorld();
    for (const spec of [
      "x",
      7,
      [],
      { containers: "x" },
      { containers: [7] },
      { priority: "high" },
      { overhead: { cpu: {} } },
    ]) {
      const object = { ...pod("p"), spec } as KubeObject;
      expect((await refusal(client.create(types.pods, object))).code).toBe("bad-request");
    }
  });

  it("stop gracefully only where they run", async () => {
    const { client, clock } = apiWorld();
    await client.create(types.pods, pod("waiting"));
    expect(await client.delete(types.pods, at("waiting"))).toBeUndefined();
    await client.create(types.pods, pod("running", { nodeName: "n1" }));
    const going = await client.delete(types.pods, at("running"));
    expect(going?.metadata).toMatchObject({
      deletionTimestamp: "2026-01-01T00:00:30Z",
      deletionGracePeriodSeconds: 30,
      generation: 2,
    });
    await clock.advance(5000);
    const sooner = await client.delete(types.pods, at("running"), { gracePeriodSeconds: 10 });
    expect(sooner?.metadata.deletionTimestamp).toBe("2026-01-01T00:00:10Z");
    const later = await client.delete(types.pods, at("running"), { gracePeriodSeconds: 99 });
    expect(later?.metadata.resourceVersion).toBe(sooner?.metadata.resourceVersion);
    expect(await client.delete(types.pods, at("running"), { gracePeriodSeconds: 0 })).toBeUndefined();
  });
});
