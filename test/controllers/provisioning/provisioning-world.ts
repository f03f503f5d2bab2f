import type { NodeClaim } from "../../../src/api/kinds/node-claim.ts";
import type { NodePool } from "../../../src/api/kinds/node-pool.ts";
import type { Pod } from "../../../src/api/kubernetes/pod.ts";
import { labels, type Taint } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { provisioningControllers } from "../../../src/controllers/provisioning/provisioning-controllers.ts";
import { ProvisioningTrigger } from "../../../src/controllers/provisioning/provisioning-trigger.ts";
import type { OpenWorkBudget } from "../../../src/controllers/work-budget.ts";
import { allocatableOf } from "../../../src/core/instance-type.ts";
import type { Resources } from "../../../src/core/resources.ts";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import { type InstanceTypeBuilder, instanceType } from "../../builders/instance-type.ts";
import { type NodePoolBuilder, nodePool } from "../../builders/node-pool.ts";
import type { PodBuilder } from "../../builders/pod.ts";
import { type ControllerWorldOptions, controllerWorld } from "../controller-world.ts";
import { RecordedMetrics } from "./recorded-metrics.ts";

export type Claim = KubeObject & NodeClaim;

export interface ProvisioningWorldOptions extends Omit<ControllerWorldOptions, "controllers" | "metrics"> {
  /** What every pool is sold. */
  readonly types?: readonly InstanceTypeBuilder[] | undefined;
  readonly pools?: readonly NodePoolBuilder[] | undefined;
  readonly openBudget?: OpenWorkBudget | undefined;
  /** Whether an overlay set the price of every type. */
  readonly isOverlaid?: boolean | undefined;
}

const sizes: readonly InstanceTypeBuilder[] = [
  instanceType("small").cpu(2).memory("4Gi"),
  instanceType("medium").cpu(8).memory("16Gi"),
  instanceType("large").cpu(32).memory("64Gi"),
];

const ready = [condition("Ready"), condition("ValidationSucceeded"), condition("NodeClassReady")];

/** The provisioning controllers with pools that are ready; nodes come up when the test says so. */
export async function provisioningWorld(options: ProvisioningWorldOptions = {}) {
  const trigger = new ProvisioningTrigger();
  const metrics = new RecordedMetrics();
  const types = (options.types ?? sizes).map((type) => type.build());
  const built = await controllerWorld({
    ...options,
    metrics,
    wrapProvider: (provider) => {
      const selling = { ...provider, instanceTypes: async () => types };
      return options.wrapProvider?.(selling) ?? selling;
    },
    controllers: (dependencies) =>
      provisioningControllers({
        ...dependencies,
        trigger,
        ...(options.openBudget && { openBudget: options.openBudget }),
        ...(options.isOverlaid && { overlaidTypes: { priced: new Set(types), enlarged: new Set() } }),
      }),
  });
  const { create, list, status, pass, client } = built;

  const makePool = async (pool: NodePoolBuilder, conditions: readonly object[] = ready): Promise<KubeObject> => {
    const stored = await create<KubeObject>(pool.build([]).nodePool);
    await status(stored, { conditions });
    return stored;
  };
  for (const pool of options.pools ?? [nodePool()]) await makePool(pool);

  /** Pods a scheduler has given up on. */
  const pend = async (...pods: readonly PodBuilder[]): Promise<void> => {
    for (const builder of pods) {
      const stored = await create<KubeObject>(podObject(builder));
      await status(stored, unschedulable);
    }
  };
  const claims = async (): Promise<readonly Claim[]> => list<Claim>(karpenterTypes.NodeClaim);

  /** What the launch controller would do: the cheapest type that is left. */
  const launch = async (claim: Claim): Promise<void> => {
    const names = claim.spec.requirements.find(({ key }) => key === labels.instanceType)?.values ?? [];
    const type = types.filter(({ name }) => names.includes(name)).sort((a, b) => priceOf(a) - priceOf(b))[0];
    if (type === undefined) throw new Error(`nothing to launch for ${claim.metadata.name}`);
    await status(claim, {
      providerID: `test:///${claim.metadata.name}`,
      capacity: written(type.capacity),
      allocatable: written(allocatableOf(type)),
      conditions: [condition("Launched")],
    });
  };
  const launchAll = async (): Promise<void> => {
    for (const claim of await claims()) if (!claim.status?.providerID) await launch(claim);
  };

  /** A Node of a launched claim, initialized. */
  const join = async (claim: Claim, { taints = [] }: { readonly taints?: readonly Taint[] } = {}): Promise<void> => {
    const { name = "" } = claim.metadata;
    const launched = await client.get<Claim>(karpenterTypes.NodeClaim, { name });
    const marks = { [labels.registered]: "true", [labels.initialized]: "true", [labels.instanceType]: "some" };
    const node = await create<KubeObject>({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: `node-of-${name}`, labels: { ...claim.metadata.labels, ...marks, [labels.hostname]: name } },
      spec: { providerID: launched.status?.providerID, taints },
    });
    await status(node, { capacity: launched.status?.capacity, allocatable: launched.status?.allocatable });
  };

  /** Long enough for a window to end. */
  const round = (): Promise<unknown> => pass(1.5);

  return {
    ...built,
    metrics,
    trigger,
    makePool,
    pend,
    claims,
    launch,
    launchAll,
    join,
    round,
    /** Pods pend, and a round has looked at them. */
    provision: async (...pods: readonly PodBuilder[]): Promise<readonly Claim[]> => {
      await pend(...pods);
      await round();
      return claims();
    },
    podsOf: (name: string) => built.cluster.podTimes.get(`default/${name}`),
    logged: (message: string) => built.lines.filter((line) => line.message === message),
    pool: (name = "default") => built.get<KubeObject & NodePool>(karpenterTypes.NodePool, name),
    bind: async (pod: PodBuilder, nodeName: string): Promise<void> => {
      const stored = await create<KubeObject>(podObject(pod, { nodeName }));
      await status(stored, { phase: "Running" });
    },
  };
}
export type ProvisioningWorld = Awaited<ReturnType<typeof provisioningWorld>>;

export const unschedulable = {
  phase: "Pending",
  conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }],
};

/** As the API server takes it: containers have images. */
export function podObject(builder: PodBuilder, spec: Partial<Pod["spec"]> = {}): KubeObject {
  const pod = builder.build({ name: "pod", uid: "", at: 0 });
  const { uid: _, creationTimestamp: __, ...metadata } = pod.metadata;
  const withImage = (container: object): object => ({ ...container, image: "app" });
  return {
    ...pod,
    apiVersion: "v1",
    kind: "Pod",
    metadata,
    spec: {
      ...pod.spec,
      containers: pod.spec.containers?.map(withImage),
      ...(pod.spec.initContainers && { initContainers: pod.spec.initContainers.map(withImage) }),
      ...spec,
    },
  };
}

export function condition(type: string, status = "True"): object {
  return { type, status, reason: type, message: "", lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1 };
}

export function requirementOf(claim: Claim | undefined, key: string): readonly string[] {
  return claim?.spec.requirements.find((one) => one.key === key)?.values ?? [];
}

function priceOf({ offerings }: { readonly offerings: readonly { readonly price: number }[] }): number {
  return Math.min(...offerings.map(({ price }) => price));
}

function written(amounts: Resources): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, amount.canonical()]));
}
