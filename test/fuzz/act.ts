import type { KubeObject } from "../../src/api/object.ts";
import type { KubeClient, ObjectKey, ResourceType } from "../../src/kube/client.ts";
import { isKubeError } from "../../src/kube/kube-error.ts";
import { builtInTypes, karpenterTypes, resourceTypeOf } from "../../src/kube/resources.ts";
import type { InstanceRecord } from "../../src/providers/sim/fleet-request.ts";
import type { SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";
import type { Clock } from "../../src/util/clock.ts";
import { type Claim, type Guard, isForeign } from "./guard.ts";
import { isManagedNode } from "./machines.ts";
import { namespace } from "./objects.ts";
import type { Operators } from "./operators.ts";
import type { Act } from "./story.ts";

export interface Stage {
  /** Of the people who use the cluster. */
  readonly client: KubeClient;
  readonly cloud: SimulatedCloud;
  readonly clock: Clock;
  readonly guard: Guard;
  readonly operators: Operators;
  /** Patterns that are out of stock. */
  readonly shortages: Extract<Act, { kind: "stock" }>["pattern"][];
}

/** Does it; false where there was nothing to do it to. */
export async function perform(act: Act, stage: Stage): Promise<void> {
  try {
    await carryOut(act, stage);
  } catch (error) {
    if (!isKubeError(error, "not-found", "conflict")) throw error; // what it was about is not there
  }
}

async function carryOut(act: Act, stage: Stage): Promise<void> {
  const { client, cloud, operators } = stage;
  switch (act.kind) {
    case "apply":
      return apply(client, act.object);
    case "delete":
      await client.delete(typeFor(act.object), keyFor(act.object), { propagation: "Background" });
      return;
    case "scale":
      await merge(client, act.object, { spec: { replicas: act.replicas } });
      return;
    case "roll": {
      const containers = [{ name: "main", image: act.image }];
      const body = { spec: { template: { spec: { containers } } } };
      await client.patch(typeFor(act.object), keyFor(act.object), { kind: "strategic", body });
      return;
    }
    case "delete-pod":
      return deleteOne(client, { type: builtInTypes.Pod, at: act.at, isMeant: () => true });
    case "delete-node":
      return deleteOne(client, { type: builtInTypes.Node, at: act.at, isMeant: isManagedNode });
    case "delete-claim":
      return deleteOne(client, {
        type: karpenterTypes.NodeClaim,
        at: act.at,
        isMeant: (one) => !isForeign(one as Claim),
      });
    case "delete-newest-claim":
      return deleteNext(stage, act.afterMs);
    case "stock":
      stage.shortages.push(act.pattern);
      return cloud.setAvailableCount(act.pattern, act.count);
    case "price":
      return cloud.setPrice(act.pattern, act.usdPerHour);
    case "kill":
      return operators.kill(act.at, act.awayMs);
    case "nothing":
      return;
    default:
      return trouble(act, stage);
  }
}

type MachineAct = Extract<Act, { kind: "kubelet" | "vanish" | "interrupt" | "notify" }>;

function trouble(act: MachineAct, { cloud, guard }: Stage): void {
  const machine = one(cloud.records(), act.at);
  if (machine === undefined) return;
  const { id, providerId } = machine.instance;
  guard.troubled(providerId);
  if (act.kind === "kubelet") cloud.setKubelet(id, act.health);
  else if (act.kind === "notify") cloud.notify(id, act.notice);
  else cloud[act.kind](id);
}

/** As `kubectl apply --server-side --force-conflicts` does. What cannot be changed is made anew. */
async function apply(client: KubeClient, object: KubeObject): Promise<void> {
  const patch = { kind: "apply", body: object, fieldManager: "people", force: true } as const;
  try {
    await client.patch(typeFor(object), keyFor(object), patch);
  } catch (error) {
    if (!isKubeError(error, "invalid")) throw error;
    await client.delete(typeFor(object), keyFor(object), { propagation: "Background" });
    await client.patch(typeFor(object), keyFor(object), patch);
  }
}

interface Choice {
  readonly type: ResourceType;
  readonly at: number;
  readonly isMeant: (object: KubeObject) => boolean;
}

async function deleteOne(client: KubeClient, { type, at, isMeant }: Choice): Promise<void> {
  const { items } = await client.list(type);
  const chosen = one(items.filter(isMeant), at);
  if (chosen !== undefined) await client.delete(type, keyFor(chosen));
}

function deleteNext({ client, clock, guard }: Stage, afterMs: number): void {
  guard.onNextClaim((name) => {
    clock.setTimer(afterMs, () => {
      client.delete(karpenterTypes.NodeClaim, { name }).catch(() => {}); // gone already: that was the goal
    });
  });
}

async function merge(client: KubeClient, object: KubeObject, body: object): Promise<void> {
  await client.patch(typeFor(object), keyFor(object), { kind: "merge", body });
}

function one<T extends KubeObject | InstanceRecord>(items: readonly T[], at: number): T | undefined {
  return items.length === 0 ? undefined : items[at % items.length];
}

function keyFor(object: KubeObject): ObjectKey {
  const { name = "" } = object.metadata;
  return typeFor(object).namespaced ? { name, namespace: object.metadata.namespace ?? namespace } : { name };
}

export function typeFor(object: KubeObject): ResourceType {
  const type = resourceTypeOf(object);
  if (type === undefined) throw new Error(`no resource type for ${object.apiVersion} ${object.kind}`);
  return type;
}
