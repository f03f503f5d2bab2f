import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import { askController, type ControllerAnswer } from "../../src/cli/explain/ask-controller.ts";
import type { LiveCluster } from "../../src/cli/live-cluster.ts";
import { systemClock } from "../../src/util/clock.ts";
import { fakeIo } from "../conversion/fake-io.ts";

const pod = (metadata: object = {}): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "karpenter-0", namespace: "karpenter", ...metadata },
    spec: { containers: [{ name: "controller", ports: [{ name: "http-metrics", containerPort: 8123 }] }] },
    status: { phase: "Running" },
  }) as unknown as KubeObject;

interface Given {
  readonly pods?: readonly KubeObject[];
  readonly token?: string;
  readonly controller?: string;
  readonly tokenFile?: string;
}

function asked({ pods = [], token = "secret", ...options }: Given): Promise<ControllerAnswer> {
  const list = async (_: unknown, { namespace = "" } = {}) => ({
    items: pods.filter(({ metadata }) => metadata.namespace === namespace),
    resourceVersion: "1",
  });
  const cluster = {
    kube: { list } as unknown as LiveCluster["kube"],
    server: "x",
    clock: systemClock(),
    close: () => {},
  };
  const connect = async (): Promise<LiveCluster> => ({
    ...cluster,
    bearerToken: async () => (token === "" ? undefined : token),
  });
  return askController("/explain/node/n", {
    live: { connect },
    io: fakeIo({ files: { token: "of-a-file\n" } }),
    ...options,
  });
}

/** A server that answers all alike, and what it was sent. */
async function answering<T>(reply: object, status: number, run: (url: string) => Promise<T>) {
  const sent: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    sent.push(request.headers.authorization);
    response.writeHead(status, { "content-type": "application/json", location: "http://127.0.0.1:1/" });
    response.end(JSON.stringify(reply));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return { result: await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), sent };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe("asking the controller of a live cluster", () => {
  it("03 §6.5 a token is sent unencrypted to this computer alone", async () => {
    const answer = await asked({ controller: "http://10.0.0.7:8080" });
    expect(answer).toEqual({
      kind: "unavailable",
      because:
        "your token would be sent to http://10.0.0.7:8080 unencrypted: forward its port with kubectl port-forward, or use https",
    });
    const inAnotherNamespace = pod({
      namespace: "evil",
      annotations: { "sim.karpenter.sh/controller-url": "http://x" },
    });
    expect(await asked({ pods: [inAnotherNamespace] })).toMatchObject({
      kind: "unavailable",
      because: expect.stringContaining("no running pod"),
    });
    const elsewhere = pod({ annotations: { "sim.karpenter.sh/controller-url": "http://evil.example" } });
    expect(await asked({ pods: [elsewhere] })).toMatchObject({ because: expect.stringContaining("unencrypted") });
  });

  it("03 §6.5 says which port to forward, and how to get a token", async () => {
    expect(await asked({ pods: [pod()] })).toEqual({
      kind: "unavailable",
      because:
        "its port is not reachable from here: run kubectl port-forward -n karpenter pod/karpenter-0 8123, and give --controller http://127.0.0.1:8123",
    });
    expect(await asked({ controller: "http://127.0.0.1:1", token: "" })).toMatchObject({
      because: expect.stringContaining("--token-file"),
    });
  });

  it("03 §6.5 sends the token and gets the explanation", async () => {
    const reply = { at: "2026-01-01T00:00:00Z", explanation: { node: "n" } };
    const { result, sent } = await answering(reply, 200, async (url) => [
      await asked({ controller: url }),
      await asked({ controller: url, tokenFile: "token" }),
    ]);
    expect(result).toMatchObject([{ kind: "answered", ...reply }, { kind: "answered" }]);
    expect(sent).toEqual(["Bearer secret", "Bearer of-a-file"]);
  });

  it.each<[number, object, object]>([
    [404, { reason: "not-found", message: "no n" }, { kind: "not-found", message: "no n" }],
    [503, { reason: "not-leading", message: "another leads" }, { because: expect.stringContaining("another leads") }],
    [404, { what: "an older controller" }, { because: expect.stringContaining("it answered 404") }],
    [302, {}, { kind: "unavailable" }],
  ])("03 §6.5 an answer with %s", async (status, reply, expected) => {
    const { result } = await answering(reply, status, (url) => asked({ controller: url }));
    expect(result).toMatchObject(expected);
  });
});
