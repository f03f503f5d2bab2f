import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { isStatusConditionTrue } from "../../src/api/conditions/set-condition.ts";
import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import type { Node } from "../../src/api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../src/api/kubernetes/pod.ts";
import { taints } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { loadObjects } from "../../src/control-plane/load-objects.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { type Sandbox, startSandbox } from "../../src/operator/sandbox/sandbox.ts";
import { systemClock } from "../../src/util/clock.ts";
import { explain } from "../explain/run.ts";

const folder = mkdtempSync(join(tmpdir(), "karpenter-sandbox-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const example = (name: string): readonly unknown[] =>
  parseAllDocuments(readFileSync(new URL(`../../examples/${name}`, import.meta.url), "utf8")).map((one) => one.toJS());

interface Scene {
  readonly sandbox: Sandbox;
  readonly lines: readonly string[];
  readonly faults: readonly unknown[];
}

/** A sandbox whose minute is a second. */
async function withSandbox(data: string | undefined, play: (scene: Scene) => Promise<void>): Promise<void> {
  const lines: string[] = [];
  const faults: unknown[] = [];
  const sandbox = await startSandbox({
    ...{
      realClock: systemClock(),
      token: "token",
      host: "127.0.0.1",
      port: 0,
      isPlainHttp: true,
      speed: 60,
      nodes: 0,
      folder,
      version: "0.0.0",
      isColoured: false,
    },
    data: data === undefined ? undefined : { folder: join(folder, data), recover: false },
    print: (line) => lines.push(line),
    onInternalError: (error) => faults.push(error),
  });
  try {
    await play({ sandbox, lines, faults });
  } finally {
    await sandbox.close();
  }
  expect(faults).toEqual([]);
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 40_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const isReady = ({ status }: { readonly status?: Pod["status"] | Node["status"] }): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;

const podsOf = async ({ client }: Sandbox) =>
  (await client.list<KubeObject & Pod>(builtInTypes.Pod, { namespace: "default" })).items;
const nodesOf = async ({ client }: Sandbox) => (await client.list<KubeObject & Node>(builtInTypes.Node)).items;
const claimsOf = async ({ client }: Sandbox) =>
  (await client.list<KubeObject & NodeClaim>(karpenterTypes.NodeClaim)).items;

const allRun = (sandbox: Sandbox, count: number) => async () => {
  const pods = await podsOf(sandbox);
  return pods.length === count && pods.every(isReady);
};

const scaled = ({ client }: Sandbox, name: string, replicas: number) =>
  client.patch(
    builtInTypes.Deployment,
    { name, namespace: "default" },
    { kind: "merge", body: { spec: { replicas } } },
  );

const consolidating = ({ client }: Sandbox, consolidateAfter: string) =>
  client.patch(
    karpenterTypes.NodePool,
    { name: "quick-start" },
    { kind: "merge", body: { spec: { disruption: { consolidateAfter } } } },
  );

it("05 §6 the sandbox: pods get nodes and run; without them nothing is left; the terminal says so", () =>
  withSandbox(undefined, async ({ sandbox, lines }) => {
    expect(await loadObjects(sandbox.api, example("quick-start.yaml"))).toEqual([]);
    await consolidating(sandbox, "10h"); // not before we have looked
    await until("50 pods run", allRun(sandbox, 50));
    const claims = await claimsOf(sandbox);
    expect(sandbox.cloud.records()).toHaveLength(claims.length);
    expect(lines.join("")).toMatch(/50 pods are pending: default\/quick-start-\S+ and 49 more\n/);
    expect(lines.join("")).toMatch(
      /launched .*-amd64-linux, spot, in \S+ at \$[\d.]+ per hour: quick-start-\w+ for \d+ pods/,
    );

    const [asked] = claims;
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, sandbox.kubeconfig);
    // At first it may be kept for another reason: pods that were to come, or that it is not initialized yet.
    const stays = `Node ${asked?.status?.nodeName} of NodePool quick-start stays: consolidateAfter, which counts from`;
    await until("the controller says why a node stays", async () => {
      const { out, err } = await explain(["node", asked?.metadata.name ?? "", "--kubeconfig", kubeconfig]);
      expect([err, out]).toEqual(["", expect.stringMatching(/\nnote: answered by the running controller at \S+Z\n$/)]);
      return out.includes(stays);
    });

    await consolidating(sandbox, "1m");
    await scaled(sandbox, "quick-start", 0);
    await until("all is given back", async () => {
      const [left, nodes] = [await claimsOf(sandbox), await nodesOf(sandbox)];
      return left.length === 0 && nodes.length === 1 && sandbox.cloud.records().length === 0;
    });
    sandbox.printLine("");
    expect(lines.join("")).toMatch(/deleted: quick-start-/);
  }));

it("05 §6 its controller is a pod on a node no user's pod lands on, and its log is the controller's", () =>
  withSandbox(undefined, async ({ sandbox }) => {
    const key = { name: "karpenter-0", namespace: "karpenter" };
    await until("the controller's pod runs", async () =>
      isReady(await sandbox.client.get<KubeObject & Pod>(builtInTypes.Pod, key)),
    );
    const [node] = await nodesOf(sandbox);
    expect(node).toMatchObject({
      metadata: { name: "control-plane", labels: { "node-role.kubernetes.io/control-plane": "" } },
      spec: { taints: [{ key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" }] },
    });
    expect(await loadObjects(sandbox.api, example("quick-start.yaml"))).toEqual([]);
    await until("a machine is bought", async () => sandbox.cloud.records().length > 0);
    let log = "";
    await until("it is logged", async () => {
      log = "";
      for await (const line of sandbox.api.log(key, { container: "controller" })) log += line;
      return log.includes("launched nodeclaim");
    });
    const [first = ""] = log.split("\n");
    expect(JSON.parse(first)).toMatchObject({
      logger: "controller",
      level: expect.stringMatching(/^(DEBUG|INFO|ERROR)$/),
    });
  }));

it("05:CP-T5 --data-dir: claims, nodes, machines and pods outlive the process, and nothing is bought again", async () => {
  const facts = async (sandbox: Sandbox) => ({
    claims: (await claimsOf(sandbox)).map(({ metadata, status }) => [
      metadata.uid,
      status?.providerID,
      status?.nodeName,
    ]),
    nodes: (await nodesOf(sandbox)).map(({ metadata }) => [metadata.name, metadata.uid]),
    pods: (await podsOf(sandbox)).map(({ metadata, spec }) => [metadata.uid, spec.nodeName]),
    machines: sandbox.cloud.records().map(({ instance, clientToken }) => [instance.providerId, clientToken]),
  });
  let before: Awaited<ReturnType<typeof facts>> | undefined;
  await withSandbox("kept", async ({ sandbox }) => {
    await loadObjects(sandbox.api, example("quick-start.yaml"));
    await consolidating(sandbox, "Never"); // its nodes are to stay as they are
    await until("50 pods run", allRun(sandbox, 50));
    const isInitialized = (claim: NodeClaim) => isStatusConditionTrue(claim, "Initialized");
    await until("every node is up", async () => (await claimsOf(sandbox)).every(isInitialized));
    before = await facts(sandbox);
  });
  await withSandbox("kept", async ({ sandbox, lines }) => {
    await sandbox.api.clock.sleep(90_000); // longer than anybody waits for a node that does not report
    expect(await facts(sandbox)).toEqual(before);
    const nodes = await nodesOf(sandbox);
    expect(nodes.filter((node) => !isReady(node))).toEqual([]);
    expect(nodes.flatMap(({ spec }) => spec?.taints ?? []).map(({ key }) => key)).not.toContain(
      taints.unregistered.key,
    );
    await scaled(sandbox, "quick-start", 60);
    await until("ten more run", allRun(sandbox, 60));
    expect(lines.join("")).not.toContain("error");
  });
});
