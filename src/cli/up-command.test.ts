import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { runUp } from "../../test/cli/run-up.ts";
import { fakeIo } from "../../test/conversion/fake-io.ts";

const folder = mkdtempSync(join(tmpdir(), "karpenter-up-"));
const env = { XDG_STATE_HOME: folder };
const kubeconfig = join(folder, "karpenter-ts", "kubeconfig");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 50_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error("waited in vain");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

interface Config {
  readonly clusters: readonly { readonly cluster: { readonly server: string } }[];
  readonly users: readonly { readonly user: { readonly token: string } }[];
}

async function ask(path: string, config = kubeconfig): Promise<Response> {
  const { clusters, users } = JSON.parse(readFileSync(config, "utf8")) as Config;
  const headers = { authorization: `Bearer ${users[0]?.user.token}` };
  return fetch(`${clusters[0]?.cluster.server}${path}`, { headers });
}

async function names(path: string): Promise<readonly string[]> {
  const { items } = (await (await ask(path)).json()) as { items: { metadata: { name: string } }[] };
  return items.map(({ metadata }) => metadata.name);
}

it("05:CP-S2 starts, writes a kubeconfig for its owner alone, says what to try, and stops", async () => {
  const io = fakeIo({ env });
  await runUp(io, ["--plain-http", "--nodes", "2"], async () => {
    expect(io.out()).toContain("The sandbox is ready at http://127.0.0.1:");
    expect(io.out()).toContain("kubectl apply -f examples/quick-start.yaml");
    expect(statSync(kubeconfig).mode & 0o777).toBe(0o600);
    expect(io.out()).toContain(`export KUBECONFIG=${kubeconfig}`);
    expect(await names("/api/v1/nodes")).toEqual(["control-plane", "node-1", "node-2"]);
    const pools = await ask("/apis/karpenter.sh/v1/nodepools");
    expect(pools.status).toBe(200);
    expect(await names("/api/v1/namespaces/karpenter/pods")).toEqual(["karpenter-0"]);
  });
  expect(io.code()).toBeUndefined();
  await expect(ask("/readyz")).rejects.toThrow();
});

it("05:CP-S2 a second sandbox has a kubeconfig of its own; one that was asked for is refused while it is in use", async () => {
  const [first, second, third] = [fakeIo({ env }), fakeIo({ env }), fakeIo({ env })];
  await runUp(first, ["--plain-http", "--no-controller"], async () => {
    const before = readFileSync(kubeconfig, "utf8");
    await runUp(second, ["--plain-http", "--no-controller"], async () => {
      expect(readFileSync(kubeconfig, "utf8")).toBe(before);
      expect(second.out()).toContain(`export KUBECONFIG=${kubeconfig}-2\n`);
      expect(second.out()).toContain(`Another sandbox runs (process ${process.pid}) and keeps ${kubeconfig};`);
      expect(readFileSync(`${kubeconfig}-2`, "utf8")).not.toBe(before);
    });
    await runUp(third, ["--plain-http", "--no-controller", "--kubeconfig", kubeconfig]);
    expect(third.err()).toBe(
      `error: ${kubeconfig} belongs to the sandbox of process ${process.pid}, which still runs; ` +
        "stop that one with Ctrl-C, or name another file with --kubeconfig\n",
    );
    expect(third.code()).toBe(1);
    expect(readFileSync(kubeconfig, "utf8")).toBe(before);
  });
  await runUp(fakeIo({ env }), ["--plain-http", "--no-controller", "--kubeconfig", kubeconfig], async () => {
    expect((await ask("/readyz")).status).toBe(200);
  });
});

it("05 §5 --nodes are in the region of the simulated cloud, and the controller's Deployment has its pod", async () => {
  const io = fakeIo({ env });
  await runUp(io, ["--plain-http", "--nodes", "2", "--region", "us-east-1"], async () => {
    const { items } = (await (await ask("/api/v1/nodes")).json()) as { items: { metadata: { labels: object } }[] };
    const zones = items.map(({ metadata }) =>
      Object.values(metadata.labels).filter((one) => /^us-east-1[a-f]?$/.test(one)),
    );
    expect(zones).toEqual([
      ["us-east-1", "us-east-1a"],
      ["us-east-1", "us-east-1a"],
      ["us-east-1", "us-east-1b"],
    ]);
    const deployment = "/apis/apps/v1/namespaces/karpenter/deployments/karpenter";
    await until(async () => {
      const { status } = (await (await ask(deployment)).json()) as { status: { availableReplicas?: number } };
      return status.availableReplicas === 1;
    });
    expect(await names("/api/v1/namespaces/karpenter/pods")).toEqual(["karpenter-0"]);
  });
  expect([io.err(), io.code()]).toEqual(["", undefined]);
});

it("05 §5 the controller is in kube-system if asked for, and moves there from an earlier run's namespace", async () => {
  const data = ["--plain-http", "--speed", "60", "--data-dir", join(folder, "moved")];
  const pods = (namespace: string) =>
    names(`/api/v1/namespaces/${namespace}/pods?labelSelector=app.kubernetes.io/name=karpenter`);
  await runUp(fakeIo({ env }), data, async () => {
    await until(async () => (await names("/apis/apps/v1/namespaces/karpenter/replicasets")).length === 1);
    expect(await pods("karpenter")).toEqual(["karpenter-0"]);
  });
  const io = fakeIo({ env, files: { "quick.yaml": readFileSync("examples/quick-start.yaml", "utf8") } });
  await runUp(io, [...data, "--controller-namespace", "kube-system", "-f", "quick.yaml"], async () => {
    expect(io.out()).toContain("kubectl logs -n kube-system deploy/karpenter -f");
    expect(await names("/apis/apps/v1/namespaces/kube-system/deployments")).toEqual(["karpenter"]);
    expect(await pods("kube-system")).toEqual(["karpenter-0"]);
    const log = "/api/v1/namespaces/kube-system/pods/karpenter-0/log";
    await until(async () => (await (await ask(log)).text()).includes('"level":"INFO"'));
    expect(await names("/apis/apps/v1/namespaces/karpenter/deployments")).toEqual([]);
    await until(async () => (await pods("karpenter")).length === 0);
  });
});

it("05 §5 a start, work and a clean stop log no error", async () => {
  const io = fakeIo({ env, files: { "quick.yaml": readFileSync("examples/quick-start.yaml", "utf8") } });
  let log = "";
  await runUp(io, ["--plain-http", "--speed", "60", "-f", "quick.yaml"], async () => {
    await until(async () => io.out().includes("ready: quick-start"));
    log = await (await ask("/api/v1/namespaces/karpenter/pods/karpenter-0/log")).text();
  });
  expect(log).toContain('"level":"INFO"');
  expect(log.split("\n").filter((line) => line.includes('"level":"ERROR"'))).toEqual([]);
  expect(io.out()).not.toContain("error");
  expect([io.err(), io.code()]).toEqual(["", undefined]);
});

it("05 §5 --no-controller starts only the control plane", async () => {
  const io = fakeIo({ env });
  await runUp(io, ["--plain-http", "--no-controller", "--nodes", "2"], async () => {
    expect(io.out()).toContain("The control plane is ready at http://127.0.0.1:");
    expect(await names("/api/v1/nodes")).toEqual(["node-1", "node-2"]);
    expect(await names("/api/v1/namespaces/karpenter/pods")).toEqual([]);
    expect((await ask("/apis/karpenter.sh/v1/nodepools")).status).toBe(200);
  });
  expect(io.code()).toBeUndefined();
});

it("05 §5 --region is the simulated region of EC2NodeClasses", async () => {
  const files = { "class.yaml": readFileSync("examples/aws.yaml", "utf8") };
  const io = fakeIo({ env, files });
  await runUp(io, ["--plain-http", "--region", "us-east-1", "--speed", "60", "-f", "class.yaml"], async () => {
    await until(async () => io.out().includes("launched"));
  });
  expect(io.out()).toMatch(/launched \w+\.\w+, \S+, in us-east-1[a-f] at \$/);
});

it("05 §5 --demo plays by itself and leaves a running cluster", async () => {
  const io = fakeIo({ env });
  await runUp(io, ["--plain-http", "--demo", "--speed", "30"], async () => {
    await until(async () => io.out().includes("Demo finished."));
    expect(await names("/api/v1/nodes")).toEqual(["control-plane"]);
    expect(await names("/apis/karpenter.sh/v1/nodeclaims")).toEqual([]);
    expect(await names("/apis/karpenter.sh/v1/nodepools")).toEqual([]);
    await until(async () => (await ask("/api/v1/namespaces/demo")).status === 404);
  });
  const scenes = [
    "web pods",
    "load rises",
    "1000 cores",
    "interrupts a spot instance",
    "load falls",
    "everything is scaled to 0",
    "finished",
  ];
  const lines = io.out().split("\n");
  const order = scenes.map((scene) => lines.findIndex((line) => line.startsWith("Demo") && line.includes(scene)));
  expect(order).not.toContain(-1);
  expect([...order].sort((a, b) => a - b)).toEqual(order);
  const summaries = io.out().match(/\d+ pods run on \d+ nodes?, for \$[\d.]+ per hour/g) ?? [];
  expect(summaries.map((line) => Number.parseInt(line, 10))).toEqual([19, 61, 61, 19]);
  expect(io.out()).toMatch(/(?:empty|underutilized): demo-\w+.* \(\d+ pods? to move.*, saves \$[\d.]+ per hour\)/);
  expect(io.out()).toMatch(
    /no node for demo\/giant: the pod requests cpu 1000; [^\n]*\s+Its events say why it cannot run/,
  );
  expect(io.out()).toMatch(/interrupted by the cloud: demo-\w+/);
  expect([io.err(), io.code()]).toEqual(["", undefined]);
});

it("05 §5 --demo can be stopped in the middle", async () => {
  const io = fakeIo({ env });
  await runUp(io, ["--plain-http", "--demo", "--speed", "20"], () => until(async () => io.out().includes("launched")));
  expect(io.out()).not.toContain("Demo finished.");
  expect([io.err(), io.code()]).toEqual(["", undefined]);
});

it("05:CP-S1 serves TLS with a certificate it keeps", async () => {
  await runUp(fakeIo({ env }), []);
  const path = join(folder, "karpenter-ts", "certificate.json");
  const first = readFileSync(path, "utf8");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await runUp(fakeIo({ env }), []);
  expect(readFileSync(path, "utf8")).toBe(first);
  expect(readFileSync(kubeconfig, "utf8")).toContain("certificate-authority-data");
});

it("05 §5 loads manifests, old ones converted with their warnings", async () => {
  const manifest = `
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: elder}
spec:
  template:
    spec:
      requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
      nodeClassRef: {apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, name: default}
  disruption: {consolidationPolicy: WhenUnderutilized}
  limitz: {cpu: 1}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: later}
---
apiVersion: v1
kind: Namespace
metadata: {name: later}
`;
  const io = fakeIo({ env, files: { "all.yaml": manifest } });
  await runUp(io, ["--plain-http", "-f", "all.yaml"], async () => {
    const pool = (await (await ask("/apis/karpenter.sh/v1/nodepools/elder")).json()) as Record<string, unknown>;
    expect(pool).toMatchObject({ spec: { disruption: { consolidationPolicy: "WhenEmptyOrUnderutilized" } } });
    expect((await ask("/api/v1/namespaces/later/configmaps/settings")).status).toBe(200);
  });
  expect(io.code()).toBeUndefined();
  expect(io.err()).toMatch(/^all.yaml:\d+:\d+: warning: spec.limitz: dropped/);
});

it("05 §5 refuses manifests it cannot take, by name and reason", async () => {
  const broken = fakeIo({ env, files: { "bad.yaml": "kind: [" } });
  await runUp(broken, ["--plain-http", "-f", "bad.yaml"]);
  expect(broken.code()).toBe(1);
  const unknown = fakeIo({
    env,
    files: { "odd.yaml": "apiVersion: example.com/v1\nkind: Odd\nmetadata: {name: x}\n" },
  });
  await runUp(unknown, ["--plain-http", "-f", "odd.yaml"]);
  expect(unknown.code()).toBe(1);
  expect(unknown.err()).toContain('Odd x: no matches for kind "Odd" in version "example.com/v1"');
});

it("05 §5 says so when it cannot listen", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as { port: number };
  const io = fakeIo({ env });
  await runUp(io, ["--plain-http", "--port", String(port)]);
  taken.close();
  expect(io.code()).toBe(1);
  expect(io.err()).toMatch(/cannot start the control plane: .*(EADDRINUSE|in use)/);
  const open = fakeIo({ env });
  await runUp(open, ["--plain-http", "--listen", "0.0.0.0"]);
  expect(open.err()).toContain("allowed on loopback only");
});

it("05:CP-T2 lets time run faster", async () => {
  const path = join(folder, "fast");
  await runUp(fakeIo({ env }), ["--plain-http", "--speed", "3600", "--kubeconfig", path], async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const created = await ask("/api/v1/namespaces/default", path);
    const { metadata } = (await created.json()) as { metadata: { creationTimestamp: string } };
    expect(Date.parse(metadata.creationTimestamp)).toBeGreaterThan(Date.now() - 5_000);
    const accept = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    const { clusters, users } = JSON.parse(readFileSync(path, "utf8")) as Config;
    const table = await fetch(`${clusters[0]?.cluster.server}/api/v1/namespaces/default`, {
      headers: { ...accept, authorization: `Bearer ${users[0]?.user.token}` },
    });
    const { rows } = (await table.json()) as { rows: { cells: unknown[] }[] };
    expect(rows[0]?.cells[2]).toMatch(/^\d+m|^\d+h/);
  });
});

it.each([
  [["--port", "99999"]],
  [["--nodes", "-1"]],
  [["--speed", "0"]],
  [["--region", "moon-1"]],
  [["--no-controller", "--demo"]],
  [["--no-controller", "--region", "us-east-1"]],
])("05 §5 refuses %j as a wrong command line", async (args) => {
  const io = fakeIo({ env });
  await expect(runUp(io, args)).rejects.toThrow();
  expect(io.code()).toBe(2);
});
