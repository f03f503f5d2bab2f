import type { KubeObject } from "../../src/api/object.ts";
import type { KubeClient, ObjectKey, ResourceType } from "../../src/kube/client.ts";
import { isKubeError } from "../../src/kube/kube-error.ts";
import { builtInTypes, karpenterTypes, resourceTypeOf } from "../../src/kube/resources.ts";
import type { InstanceRecord } from "../../src/providers/sim/fleet-request.ts";
import type { SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";
import type { Clock } from "../../src/util/clock.ts";
import { type CallChecks, type Claim, isForeign } from "./call-checks.ts";
import { namespace } from "./objects.ts";
import type { Operators } from "./operators.ts";
import { isManagedNode } from "./process-cloud.ts";
import type { ReplacementChecks } from "./replacement-checks.ts";
import type { Action } from "./story.ts";

export interface ActionContext {
  /** Of the people who use the cluster. */
  readonly client: KubeClient;
  readonly cloud: SimulatedCloud;
  readonly clock: Clock;
  readonly checks: CallChecks;
  readonly operators: Operators;
  readonly replacements: ReplacementChecks;
  /** Patterns that are out of stock. */
  readonly shortages: Extract<Action, { kind: "stock" }>["pattern"][];
}

/** Does it; false where there was nothing to do it to. */
export async function perform(action: Action, context: ActionContext): Promise<void> {
  context.replacements.inputsChanged();
  try {
    await carryOut(action, context);
  } catch (error) {
    if (!isKubeError(error, "not-found", "conflict")) throw error; // what it was about is not there
  }
}

async function carryOut(action: Action, context: ActionContext): Promise<void> {
  const { client, cloud, operators } = context;
  switch (action.kind) {
    case "apply":
      return apply(client, action.object);
    case "delete":
      await client.delete(typeFor(action.object), keyFor(action.object), { propagation: "Background" });
      return;
    case "scale":
      await merge(client, action.object, { spec: { replicas: action.replicas } });
      return;
    case "roll": {
      const containers = [{ name: "main", image: action.image }];
      const body = { spec: { template: { spec: { containers } } } };
      await client.patch(typeFor(action.object), keyFor(action.object), { kind: "strategic", body });
      return;
    }
    case "delete-pod":
      return deleteOne(client, { type: builtInTypes.Pod, at: action.at, isEligible: () => true });
    case "delete-node":
      return deleteOne(client, { type: builtInTypes.Node, at: action.at, isEligible: isManagedNode });
    case "delete-claim":
      return deleteOne(client, {
        type: karpenterTypes.NodeClaim,
        at: action.at,
        isEligible: (one) => !isForeign(one as Claim),
      });
    case "delete-newest-claim":
      return deleteNext(context, action.afterMs);
    case "stock":
      context.shortages.push(action.pattern);
      return cloud.setAvailableCount(action.pattern, action.count);
    case "price":
      return cloud.setPrice(action.pattern, action.usdPerHour);
    case "kill":
      return operators.kill(action.at, action.awayMs);
    case "nothing":
      return;
    default:
      return disturbInstance(action, context);
  }
}

type InstanceAction = Extract<Action, { kind: "kubelet" | "vanish" | "interrupt" | "notify" }>;

function disturbInstance(action: InstanceAction, { cloud, checks }: ActionContext): void {
  const machine = one(cloud.records(), action.at);
  if (machine === undefined) return;
  const { id, providerId } = machine.instance;
  checks.markDisturbed(providerId);
  if (action.kind === "kubelet") cloud.setKubelet(id, action.health);
  else if (action.kind === "notify") cloud.notify(id, action.notice);
  else cloud[action.kind](id);
}

/** As `kubectl apply --server-side --force-conflicts` does. What cannot be changed is made anew. */
async function apply(client: KubeClient, object: KubeObject): Promise<void> {
  const patch = { kind: "apply", body: object, fieldManager: "people", force: true } as const;
  try {
    await client.patch(typeFor(object), keyFor(object), patch);
  } catch (error) {
    if (!isKubeError(error, "invalid")) throw error;
    await client.delete(typeFor(object), keyFor(object), { propagation: "Background" });
    await client.patch(typeFor(object), keyFor(object), patch).catch((again: unknown) => {
      // A pod in its grace period cannot be replaced yet: this person gives up.
      if (!isKubeError(again, "invalid")) throw again;
    });
  }
}

interface Choice {
  readonly type: ResourceType;
  readonly at: number;
  readonly isEligible: (object: KubeObject) => boolean;
}

async function deleteOne(client: KubeClient, { type, at, isEligible }: Choice): Promise<void> {
  const { items } = await client.list(type);
  const chosen = one(items.filter(isEligible), at);
  if (chosen !== undefined) await client.delete(type, keyFor(chosen));
}

function deleteNext({ client, clock, checks }: ActionContext, afterMs: number): void {
  checks.onNextClaim((name) => {
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
