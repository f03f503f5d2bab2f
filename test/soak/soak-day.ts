import type { KubeObject } from "../../src/api/object.ts";
import type { KubeClient, ObjectKey } from "../../src/kube/client.ts";
import { isKubeError } from "../../src/kube/kube-error.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import type { SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";
import type { Random } from "../../src/util/random.ts";
import { typeFor } from "../world/api-world.ts";
import {
  capacityBuffer,
  clusterWide,
  cronJob,
  customResourceDefinition,
  daemonSet,
  deployment,
  job,
  namespaceObject,
  nodeOverlay,
  nodePool,
  podDisruptionBudget,
  statefulSet,
} from "./soak-objects.ts";

export interface SoakContext {
  readonly client: KubeClient;
  readonly cloud: SimulatedCloud;
  readonly random: Random;
  /** How many Deployments there are; each has a few nodes' worth of pods. */
  readonly services: number;
}

const podsAtNight = 24;
const podsByDay = 34;
const service = (index: number) => ({ name: `service-${index}` });

/** What is there from the beginning to the end; with ten services about eighty nodes at night and more than a hundred by day. */
export async function createLastingObjects({ client, services: count }: SoakContext): Promise<void> {
  const services = Array.from({ length: count }, (_, index) => service(index));
  const lasting: readonly KubeObject[] = [
    ...clusterWide,
    nodePool("default"),
    daemonSet({ name: "agent" }),
    ...services.map((at) => deployment(at, { replicas: podsAtNight })),
    ...services.map((at) => podDisruptionBudget(at)),
    statefulSet({ name: "database" }, { replicas: 6, cpu: "2" }),
    cronJob({ name: "report" }, "*/30 * * * *"),
  ];
  for (const object of lasting) await client.create(typeFor(object), object);
}

/** What people and the cloud do in one hour of a day. Nothing happens in the last hours, so that days end alike. */
export async function performHour(context: SoakContext, { day, hour }: DayAndHour): Promise<void> {
  if (hour >= quietFrom) return;
  const { client, services } = context;
  const revision = day * 24 + hour;
  await apply(client, deployment(service(hour % services), { replicas: replicasAt(hour), revision }));
  await apply(client, job({ name: `batch-${day}-${hour}` }, { parallelism: 4, runSeconds: 600 }));
  if (hour === 7 || hour === 18) await scaleServices(context, replicasAt(hour));
  if (hour === 3) await apply(client, daemonSet({ name: "agent" }, { revision: day }));
  if (hour === 1 && day % 7 === 1) await apply(client, nodePool("default", { generation: day }));
  if (hour === teamFrom) await createTeam(client, `team-${day}`);
  if (hour === teamTo) await deleteTeam(client, `team-${day}`);
  await disturb(context, hour);
}

export interface DayAndHour {
  readonly day: number;
  readonly hour: number;
}

const quietFrom = 21;
const teamFrom = 2;
const teamTo = 14;

function replicasAt(hour: number): number {
  return hour >= 7 && hour < 18 ? podsByDay : podsAtNight;
}

async function scaleServices({ client, services }: SoakContext, replicas: number): Promise<void> {
  for (let index = 0; index < services; index++) {
    const scaled = deployment(service(index), {});
    await client.patch(typeFor(scaled), keyOf(scaled), { kind: "merge", body: { spec: { replicas } } });
  }
}

/** Everything has the team's name, and nothing of that name comes again. */
function teamObjects(team: string): readonly KubeObject[] {
  const own = (name: string) => ({ name: `${team}-${name}`, namespace: team });
  return [
    namespaceObject(team),
    nodePool(team, { team }),
    nodePool(`static-${team}`, { team, replicas: 2 }),
    nodeOverlay(team),
    deployment(own("web"), { replicas: 6, team }),
    podDisruptionBudget(own("web")),
    capacityBuffer(own("spare"), own("web").name),
    statefulSet(own("store"), { replicas: 2, team }),
    daemonSet(own("logs")),
    job(own("import"), { parallelism: 3, runSeconds: 900 }),
    customResourceDefinition(team),
  ];
}

async function createTeam(client: KubeClient, team: string): Promise<void> {
  for (const object of teamObjects(team)) await client.create(typeFor(object), object);
}

async function deleteTeam(client: KubeClient, team: string): Promise<void> {
  for (const object of [...teamObjects(team)].reverse()) {
    if (object.metadata.namespace === undefined)
      await client.delete(typeFor(object), keyOf(object), { propagation: "Background" });
  }
}

/** What nobody asked for. */
async function disturb({ client, cloud, random }: SoakContext, hour: number): Promise<void> {
  const anyInstance = () => {
    const running = cloud.records().filter(({ isTerminating }) => !isTerminating);
    return running.length === 0 ? undefined : random.pick(running).instance.id;
  };
  const on = (act: (id: string) => void) => {
    const id = anyInstance();
    if (id !== undefined) act(id);
  };
  if (hour % 2 === 0) on((id) => cloud.interrupt(id));
  if (hour % 5 === 1) on((id) => cloud.notify(id, "rebalance_recommendation"));
  if (hour === 5) on((id) => cloud.vanish(id));
  if (hour === 6) on((id) => cloud.setKubelet(id, "silent"));
  if (hour === 8) cloud.setAvailableCount({ zone: "test-zone-a" }, 0);
  if (hour === 10) cloud.setAvailableCount({ zone: "test-zone-a" }, Number.POSITIVE_INFINITY);
  if (hour === 9) cloud.setPrice({ capacityType: "spot", zone: "test-zone-b" }, 0.01);
  if (hour === 11) cloud.failNext("create", { kind: "silent-kubelet" });
  if (hour === 12) cloud.failNext("create", { kind: "lost" }, 2);
  if (hour === 15) cloud.setPrice({ capacityType: "spot", zone: "test-zone-b" }, 0.04);
  if (hour === 16) await deleteAny(client, karpenterTypes.NodeClaim, random);
  if (hour === 17) await deleteAny(client, builtInTypes.Node, random);
}

type Deletable = typeof karpenterTypes.NodeClaim | typeof builtInTypes.Node;

async function deleteAny(client: KubeClient, type: Deletable, random: Random): Promise<void> {
  const { items } = await client.list(type);
  if (items.length > 0) await client.delete(type, keyOf(random.pick(items)));
}

async function apply(client: KubeClient, object: KubeObject): Promise<void> {
  const patch = { kind: "apply", body: object, fieldManager: "people", force: true } as const;
  try {
    await client.patch(typeFor(object), keyOf(object), patch);
  } catch (error) {
    if (!isKubeError(error, "conflict")) throw error;
  }
}

function keyOf({ metadata: { name = "", namespace } }: KubeObject): ObjectKey {
  return namespace === undefined ? { name } : { name, namespace };
}
