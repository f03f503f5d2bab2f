import { afterEach, describe, expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/object.ts";
import { endpointSliceController } from "../../../src/control-plane/controllers/services/endpoint-slice-controller.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { ClusterWorld, podObject } from "./cluster-world.ts";

const running: ClusterWorld[] = [];
afterEach(async () => {
  for (const cluster of running.splice(0)) await cluster.stop();
});

async function started(): Promise<ClusterWorld> {
  const cluster = await new ClusterWorld({ otherControllers: [endpointSliceController] }).start();
  running.push(cluster);
  await cluster.pass(5);
  return cluster;
}

interface Slice extends KubeObject {
  readonly ports: readonly object[];
  readonly endpoints?: readonly {
    readonly addresses: readonly string[];
    readonly conditions: { readonly ready: boolean; readonly serving: boolean; readonly terminating: boolean };
    readonly targetRef: { readonly name: string };
    readonly nodeName: string;
    readonly zone: string;
  }[];
}
interface EndpointsObject extends KubeObject {
  readonly subsets: readonly Readonly<Record<string, readonly { readonly targetRef: { readonly name: string } }[]>>[];
}

const { Service, Pod, EndpointSlice, Endpoints } = builtInTypes;

const service = (name: string, spec: object = {}) => ({
  metadata: { name, namespace: "default", labels: { team: "a" } },
  spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: "http" }], ...spec },
});

function webPod(
  name: string,
  { port = 8080, annotations = {} }: { port?: number; annotations?: Readonly<Record<string, string>> } = {},
) {
  const containers = [{ name: "c", image: "nginx", ports: [{ name: "http", containerPort: port }] }];
  const pod = podObject(name, { spec: { containers } });
  return { ...pod, metadata: { ...pod.metadata, labels: { app: "web" }, annotations } };
}

const slicesOf = async (cluster: ClusterWorld) => (await cluster.client.list<Slice>(EndpointSlice)).items;
const states = (slices: readonly Slice[]) =>
  Object.fromEntries(
    slices.flatMap(({ endpoints = [] }) =>
      endpoints.map(({ targetRef, conditions: { ready, serving, terminating } }) => [
        targetRef.name,
        `${ready} ${serving} ${terminating}`,
      ]),
    ),
  );

describe("05:CP-L15 endpoints of Services", () => {
  it("05:CP-L15 follow the readiness of pods, and their end", async () => {
    const cluster = await started();
    await cluster.create(Service, service("web"));
    await cluster.pass(1);
    expect(await slicesOf(cluster)).toMatchObject([
      { addressType: "IPv4", metadata: { name: expect.stringMatching(/^web-/) } },
    ]);
    await cluster.create(Pod, webPod("a"));
    await cluster.create(
      Pod,
      webPod("b", { annotations: { "sim.karpenter.sh/ready-seconds": "60", "sim.karpenter.sh/stop-seconds": "20" } }),
    );
    await cluster.pass(10);
    const [slice] = await slicesOf(cluster);
    expect(states(await slicesOf(cluster))).toEqual({ a: "true true false", b: "false false false" });
    expect(slice).toMatchObject({
      addressType: "IPv4",
      metadata: {
        labels: { team: "a", "kubernetes.io/service-name": "web" },
        ownerReferences: [{ kind: "Service", name: "web", controller: true }],
      },
      ports: [{ name: "", port: 8080, protocol: "TCP" }],
    });
    expect(slice?.endpoints?.[0]).toMatchObject({
      nodeName: expect.stringMatching(/^node-/),
      zone: expect.any(String),
    });
    const subsets = async () =>
      (await cluster.client.get<EndpointsObject>(Endpoints, { name: "web", namespace: "default" })).subsets.map(
        (one) => [
          one["addresses"]?.map(({ targetRef }) => targetRef.name) ?? [],
          one["notReadyAddresses"]?.map(({ targetRef }) => targetRef.name) ?? [],
        ],
      );
    expect(await subsets()).toEqual([[["a"], ["b"]]]);
    await cluster.pass(60);
    expect(states(await slicesOf(cluster))).toEqual({ a: "true true false", b: "true true false" });
    await cluster.client.delete(Pod, { name: "b", namespace: "default" });
    await cluster.pass(1);
    expect(states(await slicesOf(cluster))).toEqual({ a: "true true false", b: "false true true" });
    expect(await subsets()).toEqual([[["a"], []]]);
    await cluster.pass(40);
    expect(states(await slicesOf(cluster))).toEqual({ a: "true true false" });
    expect(cluster.failures).toEqual([]);
  });

  it("05:CP-L15 are slices by the numbers of named ports, of a hundred at most, and go with the Service", async () => {
    const cluster = await started();
    await cluster.create(Service, service("web", { publishNotReadyAddresses: true }));
    const names = Array.from({ length: 105 }, (_, index) => `p-${String(index).padStart(3, "0")}`);
    for (const name of names) await cluster.create(Pod, webPod(name));
    await cluster.create(Pod, webPod("odd", { port: 9090 }));
    await cluster.pass(20);
    const sizes = (await slicesOf(cluster)).map(({ endpoints = [] }) => endpoints.length).sort((a, b) => a - b);
    expect(sizes).toEqual([1, 5, 100]);
    await cluster.client.delete(Service, { name: "web", namespace: "default" });
    await cluster.pass(5);
    expect(await slicesOf(cluster)).toEqual([]);
    expect((await cluster.client.list(Endpoints)).items).toEqual([]);
  });

  it("05:CP-L15 of a Service without a selector are the user's", async () => {
    const cluster = await started();
    const own = { metadata: { name: "db", namespace: "default" }, subsets: [{ addresses: [{ ip: "192.0.2.1" }] }] };
    await cluster.create(Endpoints, own);
    await cluster.create(Service, service("db", { selector: undefined }));
    await cluster.create(
      Service,
      service("out", { selector: { app: "web" }, type: "ExternalName", externalName: "x.y" }),
    );
    await cluster.pass(5);
    expect(await slicesOf(cluster)).toEqual([]);
    expect((await cluster.client.list(Endpoints)).items).toMatchObject([own]);
  });

  it("05:CP-L15 are written once: nothing changes by itself", async () => {
    const cluster = await started();
    await cluster.create(Service, service("web"));
    await cluster.create(Pod, webPod("a"));
    await cluster.pass(30);
    const before = await slicesOf(cluster);
    await cluster.pass(300);
    expect(await slicesOf(cluster)).toEqual(before);
  });
});
