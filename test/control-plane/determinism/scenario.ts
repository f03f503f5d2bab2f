import type { KubeObject } from "../../../src/api/object.ts";
import { isKubeError } from "../../../src/kube/kube-error.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import type { ClientFaultRates } from "../../world/faults/fault-plan.ts";
import { World } from "./world.ts";

export interface ScenarioOptions {
  readonly seed: string;
  readonly nodes: number;
  readonly pods: number;
  /** How long it is left alone at the end. */
  readonly quietSeconds: number;
}

/** What came of it. */
export interface ScenarioOutcome {
  readonly fingerprint: string;
  readonly lines: readonly string[];
  readonly writes: number;
  readonly faults: ReadonlyMap<string, number>;
  readonly surprises: readonly unknown[];
  readonly running: number;
  /** Deployments that do not have what they ask for, in spite of all the time they had. */
  readonly unsettled: readonly string[];
  readonly kinds: readonly string[];
}

const rates: ClientFaultRates = {
  calls: { conflict: 0.01, "too-many-requests": 0.005, "server-error": 0.005, "lost-answer": 0.005 },
  watches: { cut: 0.0005, expired: 0.0005 },
  watchDelayMs: 200,
  listDelayMs: 2_000,
};

const namespace = "default";

/** A while of a busy cluster on a bad network: rollouts, drains, dead machines, and loops that crash and start again. */
export async function runScenario({ seed, nodes, pods, quietSeconds }: ScenarioOptions): Promise<ScenarioOutcome> {
  const world = new World({ seed, nodes, rates, isLogged: true });
  const random = world.random;
  world.start();
  await world.pass(60);
  const deployments = Math.max(2, Math.ceil(pods / 60));
  await create(world, workloads({ deployments, pods: pods - nodes }));
  await world.pass(300);

  for (let at = 0; at < deployments / 4; at++) {
    await rollOut(world, `web-${random.int(deployments)}`, `web:${at + 2}`);
    await world.pass(random.int(20));
  }
  const drained = random.shuffle(Array.from({ length: nodes }, (_, at) => `node-${at + 1}`));
  for (const name of drained.slice(0, Math.ceil(nodes / 20))) await drain(world, name);
  await world.stop();
  world.start({ crashAtCall: 40 + random.int(100) });
  for (const name of drained.slice(-Math.ceil(nodes / 50))) world.instances.setKubelet(name, "silent");
  await world.pass(300);
  await world.stop(); // the crashed loops, whether they noticed or not
  world.start();
  const [gone = "node-1"] = drained.slice(-1);
  world.instances.terminate(gone);
  await scale(world, "web-0", Math.ceil(pods / deployments / 2));
  await world.pass(quietSeconds);
  await world.stop();

  const { items } = await world.client.list<KubeObject & { status?: { phase?: string } }>(builtInTypes.Pod, {
    namespace,
  });
  return {
    fingerprint: world.fingerprint(),
    lines: world.lines,
    writes: world.lines.length,
    faults: world.faults,
    surprises: world.surprises,
    unsettled: await unsettled(world),
    running: items.filter(({ status }) => status?.phase === "Running").length,
    kinds: [...new Set(world.lines.map((line) => line.split(" ")[3] ?? ""))].sort(),
  };
}

type Scaled = KubeObject & {
  readonly spec: { readonly replicas: number };
  readonly status?: { readonly availableReplicas?: number; readonly replicas?: number };
};

/** Deployments alone: a pod of a StatefulSet on a machine that fell silent is not replaced, here as anywhere. */
async function unsettled({ client }: World): Promise<readonly string[]> {
  const { items } = await client.list<Scaled>(builtInTypes.Deployment, { namespace });
  return items
    .filter(({ spec, status }) => status?.availableReplicas !== spec.replicas || status.replicas !== spec.replicas)
    .map(({ metadata, spec, status }) => `${metadata.name}: ${JSON.stringify(status)}, wanted ${spec.replicas}`);
}

function workloads({ deployments, pods }: { deployments: number; pods: number }): readonly KubeObject[] {
  const web = Math.floor((pods * 0.9) / deployments);
  const rest = pods - web * deployments;
  const each = Array.from({ length: deployments }, (_, at) => `web-${at}`);
  return [
    ...each.map((name) => object("apps/v1", "Deployment", name, { replicas: web, ...template(name) })),
    ...each.map((name) =>
      object("policy/v1", "PodDisruptionBudget", name, {
        maxUnavailable: "25%",
        selector: { matchLabels: { app: name } },
      }),
    ),
    object("apps/v1", "DaemonSet", "agent", template("agent")),
    object("apps/v1", "StatefulSet", "db", { replicas: 5, serviceName: "db", ...template("db") }),
    object("batch/v1", "Job", "import", {
      parallelism: 5,
      completions: Math.max(5, rest - 5),
      template: { ...template("import").template, spec: { ...podSpec(), restartPolicy: "Never" } },
    }),
  ];
}

function object(apiVersion: string, kind: string, name: string, spec: object): KubeObject {
  return { apiVersion, kind, metadata: { name, namespace }, spec };
}

function template(app: string) {
  const labels = { app };
  return { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec() } };
}

function podSpec() {
  const requests = { cpu: "100m", memory: "128Mi" };
  return {
    terminationGracePeriodSeconds: 5,
    containers: [{ name: "main", image: "web:1", resources: { requests } }],
  };
}

async function create({ client, api }: World, objects: readonly KubeObject[]): Promise<void> {
  for (const one of objects) {
    const kind = api.kinds.findByApiVersion(one);
    if (kind === undefined) throw new Error(`no kind ${one.kind}`);
    await client.create(kind, one);
  }
}

async function rollOut({ client }: World, name: string, image: string): Promise<void> {
  const body = { spec: { template: { spec: { containers: [{ name: "main", image }] } } } };
  await client.patch(builtInTypes.Deployment, { name, namespace }, { kind: "strategic", body });
}

async function scale({ client }: World, name: string, replicas: number): Promise<void> {
  await client.patch(builtInTypes.Deployment, { name, namespace }, { kind: "merge", body: { spec: { replicas } } });
}

/** As kubectl does: cordon, evict all but daemons, and again where a budget says no. */
async function drain(world: World, name: string): Promise<void> {
  const { client } = world;
  await client.patch(builtInTypes.Node, { name }, { kind: "strategic", body: { spec: { unschedulable: true } } });
  for (let tries = 0; tries < 20; tries++) {
    const { items } = await client.list(builtInTypes.Pod, { fieldSelector: `spec.nodeName=${name}` });
    const left = items.filter(({ metadata }) => metadata.labels?.["app"] !== "agent");
    if (left.length === 0) return;
    for (const { metadata } of left) await evict(world, metadata.name ?? "");
    await world.pass(5);
  }
}

async function evict({ client }: World, name: string): Promise<void> {
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } };
  try {
    await client.create(builtInTypes.Pod, eviction, { subresource: "eviction", name });
  } catch (error) {
    if (!isKubeError(error, "too-many-requests", "not-found")) throw error;
  }
}
