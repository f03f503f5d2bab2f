import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectTo } from "../../src/cli/connect.ts";
import { readLiveCluster } from "../../src/cli/live-cluster.ts";
import { main } from "../../src/cli/main.ts";
import { unreachableText } from "../../src/cli/plan-input.ts";
import { makeCertificate, type ServerCertificate } from "../../src/control-plane/certificate.ts";
import { fakeIo } from "../conversion/fake-io.ts";

const folder = mkdtempSync(join(tmpdir(), "cluster-access-"));
const kubeconfig = join(folder, "config");
let certificates: {
  readonly good: ServerCertificate;
  readonly other: ServerCertificate;
  readonly expired: ServerCertificate;
};
const servers: Server[] = [];

beforeAll(async () => {
  const dayMs = 24 * 60 * 60 * 1000;
  const made = (hosts: readonly string[], now: number) => makeCertificate({ hosts, now });
  const [good, other, expired] = await Promise.all([
    made(["127.0.0.1"], Date.now()),
    made(["example.com"], Date.now()),
    made(["127.0.0.1"], Date.now() - 500 * dayMs),
  ]);
  certificates = { good, other, expired };
});

afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});

afterAll(() => rmSync(folder, { recursive: true }));

async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const unauthorized: RequestListener = (_, response) => {
  const status = {
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    message: "Unauthorized",
    reason: "Unauthorized",
    code: 401,
  };
  response.writeHead(401, { "content-type": "application/json", connection: "close" }).end(JSON.stringify(status));
};

function useServer(
  server: string,
  cluster: Readonly<Record<string, unknown>> = {},
  user: unknown = { token: "t" },
): void {
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      "current-context": "prod",
      clusters: [{ name: "c", cluster: { server, ...cluster } }],
      users: [{ name: "u", user }],
      contexts: [
        { name: "prod", context: { cluster: "c", user: "u" } },
        { name: "staging", context: { cluster: "c", user: "u" } },
      ],
    }),
  );
}

/** What a command prints that reads this cluster. */
async function failure({ timeoutMs = 10_000, context = "prod" } = {}): Promise<string> {
  try {
    const cluster = await connectTo({ env: {} }, { timeoutMs })({ kubeconfig, context });
    try {
      await readLiveCluster(cluster);
    } finally {
      cluster.close();
    }
  } catch (error) {
    return unreachableText(error);
  }
  throw new Error("the cluster could be read");
}

const kubectl = `kubectl --kubeconfig ${kubeconfig} --context prod`;

describe("a cluster that cannot be read", () => {
  it("names a server that does not accept the credentials, and how to check them", async () => {
    const port = await listening(createHttpServer(unauthorized));
    useServer(`http://127.0.0.1:${port}`);
    expect(await failure()).toBe(
      `cannot reach http://127.0.0.1:${port} (context prod): it does not accept the credentials of the kubeconfig ` +
        `(401 Unauthorized); log in again or renew the token, and check with: ${kubectl} auth whoami`,
    );
  });

  it("names a server that refuses connections", async () => {
    const closed = createTcpServer();
    const port = await listening(closed);
    await new Promise((resolve) => closed.close(resolve));
    servers.pop();
    useServer(`https://127.0.0.1:${port}`);
    expect(await failure()).toBe(
      `cannot reach https://127.0.0.1:${port} (context prod): connection refused: nothing listens there; ` +
        `start the cluster, or correct the server's address; check with: ${kubectl} cluster-info`,
    );
  });

  it("names a host that does not exist", async () => {
    useServer("https://no-such-host.invalid:6443");
    expect(await failure()).toContain(
      "cannot reach https://no-such-host.invalid:6443 (context prod): DNS does not know the host no-such-host.invalid; " +
        `check the server's address in the kubeconfig (${kubectl} config view --minify)`,
    );
  });

  it("names a server that does not answer in time", async () => {
    const sockets = new Set<{ destroy(): void }>();
    const silent = createTcpServer((socket) => sockets.add(socket));
    const port = await listening(silent);
    useServer(`http://127.0.0.1:${port}`);
    expect(await failure({ timeoutMs: 50 })).toBe(
      `cannot reach http://127.0.0.1:${port} (context prod): no response within 0.05 s; ` +
        `check the network, VPN and firewall, and then: ${kubectl} cluster-info`,
    );
    for (const socket of sockets) socket.destroy();
  });

  it("names a server that closes the connection", async () => {
    const port = await listening(createTcpServer((socket) => socket.destroy()));
    useServer(`http://127.0.0.1:${port}`);
    expect(await failure()).toContain("(context prod): the connection was closed before an answer came; check proxies");
  });

  it.each([
    [
      "good",
      "its certificate is not signed by the certificate authority of the kubeconfig; fetch the kubeconfig again",
      false,
    ],
    ["expired", "its certificate has expired; renew the certificate of the API server", true],
    ["other", "its certificate is for other names (", true],
  ] as const)("names a server with a certificate that is not trusted: %s", async (which, said, isTrusted) => {
    const { key, certificate } = certificates[which];
    const port = await listening(createHttpsServer({ key, cert: certificate }, unauthorized));
    const authority = isTrusted ? certificate : certificates.other.certificate;
    useServer(`https://127.0.0.1:${port}`, {
      "certificate-authority-data": Buffer.from(authority).toString("base64"),
    });
    const text = await failure();
    expect(text).toContain(`cannot reach https://127.0.0.1:${port} (context prod): ${said}`);
    expect(text).toContain(`check with: ${kubectl} cluster-info`);
  });

  it("names a server that does not speak TLS", async () => {
    const port = await listening(createHttpServer(unauthorized));
    useServer(`https://127.0.0.1:${port}`);
    expect(await failure()).toContain("should begin with http:// or https://");
  });

  it("names a credential plugin that is not installed", async () => {
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1",
      command: "no-such-plugin",
      installHint: "install it",
    };
    useServer("https://127.0.0.1:1", {}, { exec });
    expect(await failure()).toContain(
      "credential plugin no-such-plugin is not installed: no such program is in PATH\ninstall it; check with: kubectl",
    );
  });

  it("names the contexts there are", async () => {
    useServer("https://127.0.0.1:1");
    expect(await failure({ context: "stagign" })).toBe(
      "the kubeconfig has no context stagign; did you mean staging?; choose one with --context: prod, staging",
    );
  });

  it.each([["plan"], ["explain", "pod", "x"], ["snapshot", "-o", join(folder, "s")]])(
    "is told by %s",
    async (...args) => {
      const port = await listening(createHttpServer(unauthorized));
      useServer(`http://127.0.0.1:${port}`);
      const io = fakeIo();
      expect(await main([...args, "--kubeconfig", kubeconfig], io)).toBe(1);
      expect(io.err()).toContain(
        `cannot reach http://127.0.0.1:${port} (context prod): it does not accept the credentials`,
      );
    },
  );

  it("is told by commands without a kubeconfig", async () => {
    const io = fakeIo();
    expect(await main(["plan", "--kubeconfig", join(folder, "missing")], io)).toBe(1);
    expect(io.err()).toContain(
      `there is no kubeconfig at ${join(folder, "missing")}; name another file with --kubeconfig`,
    );
  });
});
