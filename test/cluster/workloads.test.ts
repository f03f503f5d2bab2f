import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import type { Deployment, Job, StatefulSet } from "../../src/control-plane/controllers/workloads/types.ts";
import { findWorkloadCondition } from "../../src/control-plane/controllers/workloads/workload-status.ts";
import type { KubeClient, ResourceType } from "../../src/kube/client.ts";
import { bearerHeaders, fixedCredentials } from "../../src/kube/connection.ts";
import { startControllers } from "../../src/kube/controller.ts";
import { httpClient } from "../../src/kube/http-client.ts";
import { isKubeError } from "../../src/kube/kube-error.ts";
import { builtInTypes } from "../../src/kube/resources.ts";
import { socketTransport } from "../../src/kube/socket-transport.ts";
import { systemClock } from "../../src/util/clock.ts";
import { Random } from "../../src/util/random.ts";
import { brokenImage, runAnnotation, testKubelet } from "../control-plane/controllers/workloads/test-kubelet.ts";
import {
  deployment,
  newImage,
  template,
  workloadWorld,
} from "../control-plane/controllers/workloads/workload-world.ts";
import { describeOnCluster } from "./shared.ts";

const namespace = "workloads";
const nodes = ["w1", "w2", "w3"];

/** A cluster the story is told on. */
interface Stage {
  readonly client: KubeClient;
  /** Until the probe is content; throws after a while. */
  until(what: string, probe: () => Promise<boolean>): Promise<void>;
}

const statefulSet = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "db" },
  spec: { replicas: 3, serviceName: "db", selector: { matchLabels: { app: "db" } }, template: template("db") },
};
const daemonSet = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "agent" },
  spec: { selector: { matchLabels: { app: "agent" } }, template: template("agent") },
};

function job(name: string, run: string, spec: object = {}) {
  const base = template(name, { annotations: { [runAnnotation]: run } });
  const pods = { ...base, spec: { ...base.spec, restartPolicy: "Never" } };
  return { apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec: { template: pods, ...spec } };
}

/** One for each app: of several budgets over a pod the real controller brings only the first up to date. */
function budget(app: string, spec: object) {
  const selector = { matchLabels: { app } };
  return { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: app }, spec: { selector, ...spec } };
}

/** The same story on any cluster; returns what there is to see at its turns. */
async function story({ client, until }: Stage): Promise<Readonly<Record<string, unknown>>> {
  const create = (type: ResourceType, object: object) =>
    client.create(type, { ...object, metadata: { ...(object as KubeObject).metadata, namespace } } as KubeObject);
  const get = <T extends KubeObject>(type: ResourceType, name: string) => client.get<T>(type, { name, namespace });
  const patch = (type: ResourceType, name: string, body: unknown) =>
    client.patch(type, { name, namespace }, { kind: "strategic", body });
  const seen: Record<string, unknown> = {};
  const note = async (turn: string) => {
    seen[turn] = await facts(client);
  };
  const isRolledOut = (wanted: number) => async () => {
    const { status, metadata } = await get<Deployment>(builtInTypes.Deployment, "web");
    const { updatedReplicas, availableReplicas, replicas, observedGeneration } = status ?? {};
    const counts = [updatedReplicas, availableReplicas, replicas];
    const isDone = findWorkloadCondition(status?.conditions, "Progressing")?.reason === "NewReplicaSetAvailable";
    return counts.every((count) => count === wanted) && observedGeneration === metadata.generation && isDone;
  };

  await create(builtInTypes.Deployment, deployment("web", { replicas: 6, minReadySeconds: 1 }));
  await create(builtInTypes.StatefulSet, statefulSet);
  await create(builtInTypes.DaemonSet, daemonSet);
  await create(builtInTypes.Job, job("work", "1:Succeeded", { completions: 3, parallelism: 2 }));
  await create(
    builtInTypes.Job,
    job("indexed", "1:Succeeded", { completions: 3, parallelism: 3, completionMode: "Indexed" }),
  );
  await create(builtInTypes.Job, job("failing", "1:Failed", { backoffLimit: 0 }));
  await create(builtInTypes.Job, job("asleep", "1:Succeeded", { suspend: true }));
  await create(builtInTypes.PodDisruptionBudget, budget("web", { minAvailable: "50%" }));
  await create(builtInTypes.PodDisruptionBudget, budget("db", { maxUnavailable: 1 }));
  await until("the deployment is there", isRolledOut(6));
  await until("the stateful set is there", async () => {
    const { status } = await get<StatefulSet>(builtInTypes.StatefulSet, "db");
    return status?.availableReplicas === 3 && status.currentReplicas === 3;
  });
  for (const [name, end] of [
    ["work", "Complete"],
    ["indexed", "Complete"],
    ["failing", "Failed"],
  ] as const) {
    const isOver = async () =>
      findWorkloadCondition((await get<Job>(builtInTypes.Job, name)).status?.conditions, end)?.status === "True";
    await until(`${name} is over`, isOver);
  }
  await until("all is quiet", quiet(client));
  await note("begun");

  await patch(builtInTypes.Deployment, "web", newImage("app:2"));
  await patch(builtInTypes.StatefulSet, "db", newImage("app:2"));
  await patch(builtInTypes.DaemonSet, "agent", newImage("app:2"));
  await until("the second version is out", isRolledOut(6));
  await until("all is quiet", quiet(client));
  await note("second version");

  await patch(builtInTypes.Deployment, "web", newImage(brokenImage));
  await until("the broken version is stuck", async () => {
    const { status } = await get<Deployment>(builtInTypes.Deployment, "web");
    return status?.updatedReplicas === 3 && status.availableReplicas === 5;
  });
  await until("all is quiet", quiet(client));
  await note("stuck");
  await patch(builtInTypes.Deployment, "web", { spec: { replicas: 9 } });
  await until("all is quiet", quiet(client));
  await note("scaled in the middle");
  await patch(builtInTypes.Deployment, "web", newImage("app:1"));
  await until("it is undone", isRolledOut(9));
  await until("all is quiet", quiet(client));
  await note("undone");
  return seen;
}

/** Nothing of interest changed since it was last asked. */
function quiet(client: KubeClient): () => Promise<boolean> {
  let before = "";
  let same = 0;
  return async () => {
    const now = JSON.stringify(await facts(client));
    same = now === before ? same + 1 : 0;
    before = now;
    return same >= 12;
  };
}

async function facts(client: KubeClient): Promise<unknown> {
  const list = async (type: ResourceType) => (await client.list(type, { namespace })).items;
  const sets = await list(builtInTypes.ReplicaSet);
  const revisions = await list(builtInTypes.ControllerRevision);
  const names = new Map<string, string>();
  for (const { metadata } of sets) {
    const revision = `R${metadata.annotations?.["deployment.kubernetes.io/revision"]}`;
    names.set(metadata.labels?.["pod-template-hash"] ?? "", revision);
  }
  for (const one of revisions) {
    const { labels = {} } = one.metadata;
    const hash = labels["controller.kubernetes.io/hash"] ?? labels["controller-revision-hash"] ?? "";
    names.set(hash, `C${(one as KubeObject & { revision: number }).revision}`);
  }
  const hidden = (value: unknown): unknown => {
    let text = JSON.stringify(value, (key, one) => (isVolatile(key) ? undefined : one));
    for (const [hash, name] of names) if (hash !== "") text = text?.replaceAll(hash, name);
    text = text?.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UID");
    text = text?.replaceAll(/"\d{4}-\d\d-\d\dT[^"]*Z"/g, '"TIME"');
    return text === undefined ? undefined : JSON.parse(text);
  };
  const told = async (type: ResourceType) =>
    (await list(type))
      .map(({ metadata, spec, status }) => ({
        name: metadata.name,
        labels: metadata.labels,
        annotations: metadata.annotations,
        owners: metadata.ownerReferences,
        replicas: (spec as { replicas?: number }).replicas,
        selector: (spec as { selector?: unknown }).selector,
        status: withSortedConditions(status, type === builtInTypes.ReplicaSet),
      }))
      .map(hidden)
      .sort(byText);
  const pods = (await list(builtInTypes.Pod)).map(({ metadata, spec }) => ({
    name: metadata.name?.replace(/-[a-z0-9]{5}$/, "-XXXXX"),
    labels: metadata.labels,
    annotations: metadata.annotations,
    owners: metadata.ownerReferences,
    finalizers: metadata.finalizers,
    ...podShape(spec),
  }));
  return {
    deployments: await told(builtInTypes.Deployment),
    replicaSets: await told(builtInTypes.ReplicaSet),
    statefulSets: await told(builtInTypes.StatefulSet),
    daemonSets: await told(builtInTypes.DaemonSet),
    jobs: await told(builtInTypes.Job),
    budgets: await told(builtInTypes.PodDisruptionBudget),
    revisions: revisions
      .map(({ metadata, ...rest }) => ({
        name: metadata.name,
        labels: metadata.labels,
        owners: metadata.ownerReferences,
        ...rest,
      }))
      .map(hidden)
      .sort(byText),
    pods: pods.map(hidden).sort(byText),
  };
}

function podShape(spec: unknown): object {
  const { affinity, hostname, subdomain, containers, nodeName } = spec as Record<string, unknown> & {
    containers: readonly { image?: string; env?: unknown }[];
  };
  const isPinned = affinity !== undefined;
  return {
    affinity,
    hostname,
    subdomain,
    images: containers.map(({ image }) => image),
    env: containers.map(({ env }) => env),
    ...(isPinned && { nodeName }),
  };
}

/** In how many steps a set got its size is a matter of timing, and with it its generation. */
function withSortedConditions(status: unknown, isSet: boolean): unknown {
  const { conditions, observedGeneration, ...others } = (status ?? {}) as {
    conditions?: readonly { type: string }[];
    observedGeneration?: number;
  };
  const rest = isSet ? others : { ...others, observedGeneration };
  if (conditions === undefined) return rest;
  return { ...rest, conditions: [...conditions].sort((a, b) => (a.type < b.type ? -1 : 1)) };
}

function isVolatile(key: string): boolean {
  return key === "resourceVersion" || key === "creationTimestamp" || key === "managedFields";
}

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

async function embedded(): Promise<Readonly<Record<string, unknown>>> {
  const cluster = await workloadWorld({ nodes });
  await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const until: Stage["until"] = async (what, probe) => {
    for (let tries = 0; tries < 600; tries++) {
      if (await probe()) return;
      await cluster.pass(0.25);
    }
    throw new Error(`${what}: not in time`);
  };
  const seen = await story({ client: cluster.client, until });
  await cluster.stop();
  return seen;
}

describeOnCluster("the workload loops beside the real controller manager", ({ url: server, ca, token }) => {
  const clock = systemClock();
  const transport = socketTransport({
    server,
    tls: { ca },
    credentials: fixedCredentials({ headers: bearerHeaders(token) }),
    namespace: "default",
  });
  const client = httpClient({ transport, clock, userAgent: "karpenter/test" });

  afterAll(async () => {
    for (const name of nodes) await client.delete(builtInTypes.Node, { name }).catch(() => {});
    await client.delete(builtInTypes.Namespace, { name: namespace }).catch(() => {});
    transport.close();
  });

  it("05 §6 the same story ends the same at every turn", async () => {
    const status = {
      capacity: { cpu: "32", memory: "64Gi", pods: "110" },
      allocatable: { cpu: "32", memory: "64Gi", pods: "110" },
      conditions: [{ type: "Ready", status: "True", reason: "KubeletReady" }],
    };
    for (const name of nodes) {
      const node = {
        apiVersion: "v1",
        kind: "Node",
        metadata: { name, labels: { "kubernetes.io/hostname": name } },
        status,
      };
      await client.create(builtInTypes.Node, node);
    }
    await client.create(builtInTypes.Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    // Real nodes are placed by the real scheduler; our little kubelet makes their pods run.
    const kubelet = startControllers({
      client,
      clock,
      random: new Random("workloads"),
      controllers: [testKubelet({ readyAfterMs: 500, nodes: [] })],
      recordsEvents: false,
    });
    const until: Stage["until"] = async (what, probe) => {
      for (const deadline = clock.now() + 60_000; clock.now() < deadline; ) {
        for (const name of nodes) await beat(client, name, clock.now());
        if (await probe().catch(passing)) return;
        await sleep(250);
      }
      throw new Error(`${what}: not in time`);
    };
    try {
      const real = await story({ client, until });
      const ours = await embedded();
      expect(Object.keys(real)).toHaveLength(5);
      expect(ours).toEqual(real);
    } finally {
      await kubelet.stop();
    }
  }, 240_000);
});

function passing(error: unknown): false {
  if (isKubeError(error)) return false;
  throw error;
}

async function beat(client: KubeClient, name: string, now: number): Promise<void> {
  const ready = {
    type: "Ready",
    status: "True",
    reason: "KubeletReady",
    lastHeartbeatTime: new Date(now).toISOString(),
  };
  const body = { status: { conditions: [ready] } };
  await client.patch(builtInTypes.Node, { name }, { kind: "strategic", body }, { subresource: "status" });
}
