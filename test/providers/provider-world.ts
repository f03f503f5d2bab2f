import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import { labels } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import type { CloudProvider } from "../../src/cloud/cloud-provider.ts";
import { ApiServer } from "../../src/control-plane/api/server.ts";
import { InProcessClient } from "../../src/control-plane/in-process-client.ts";
import { installCrds } from "../../src/control-plane/install-crds.ts";
import { startSimulatedCluster } from "../../src/control-plane/simulated-cluster.ts";
import type { ResourceType } from "../../src/kube/client.ts";
import { type ControllerFailure, startControllers } from "../../src/kube/controller.ts";
import { isKubeError } from "../../src/kube/kube-error.ts";
import { builtInTypes, karpenterTypes, resourceTypeOf } from "../../src/kube/resources.ts";
import { type CloudCallEntry, SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";
import { type SimulatedProviderOptions, simulatedProvider } from "../../src/providers/sim/simulated-provider.ts";
import type { SimulationSettings } from "../../src/providers/sim/simulation-settings.ts";
import { Random } from "../../src/util/random.ts";
import { VirtualClock } from "../../src/util/virtual-clock.ts";

export const startAt = Date.parse("2026-01-01T00:00:00Z");

export interface ProviderWorldOptions {
  readonly seed?: string;
  readonly settings?: Partial<SimulationSettings>;
  /** Which of the provider's loops run; none unless named. */
  readonly controllers?: readonly string[];
  /** Whether kubelets and the like run. */
  readonly runsCluster?: boolean;
  readonly provider?: Partial<SimulatedProviderOptions>;
}

export type Claim = KubeObject & NodeClaim;

/** A simulated cloud and its provider on the virtual clock, with an API server without sockets. */
export async function providerWorld({
  seed = "sim",
  settings,
  controllers = [],
  runsCluster = false,
  ...options
}: ProviderWorldOptions = {}) {
  const clock = new VirtualClock({ startAt });
  const random = new Random(seed);
  const api = new ApiServer({ clock, random: random.fork("api") });
  const client = new InProcessClient(api);
  await installCrds(api, "all");
  const calls: CloudCallEntry[] = [];
  const troubles: ControllerFailure[] = [];
  const cloud = new SimulatedCloud({
    clock,
    random: random.fork("cloud"),
    settings,
    onCall: (entry) => calls.push(entry),
  });
  const provider: CloudProvider = simulatedProvider({
    cloud,
    client,
    clock,
    random: random.fork("provider"),
    ...options.provider,
  });
  const cluster = runsCluster
    ? startSimulatedCluster({ api, clock, random: random.fork("world"), instances: cloud })
    : undefined;
  const start = (names: readonly string[]) =>
    startControllers({
      client,
      clock,
      random: random.fork("loops"),
      controllers: provider.controllers.filter(({ name }) => names.includes(name)),
      eventSource: { component: "karpenter" },
      onFailure: (trouble) => troubles.push(trouble),
    });
  const running = start(controllers);
  await clock.advance(0);
  let count = 0;

  const create = async <T extends KubeObject>(object: KubeObject): Promise<T> => {
    const type = resourceTypeOf(object);
    if (type === undefined) throw new Error(`no type for ${object.kind}`);
    const made = await client.create<T>(type, object);
    await clock.advance(0);
    return made;
  };
  /** Lets time pass while a call is answered. */
  const answer = async <T>(call: Promise<T>, ms = 1_000): Promise<T> => {
    const kept = call.then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error;
      },
    );
    await clock.advance(ms);
    return (await kept)();
  };
  const createClaim = (spec: ClaimRequest = {}): Promise<Claim> =>
    create<Claim>({
      apiVersion: "karpenter.sh/v1",
      kind: "NodeClaim",
      metadata: { name: `default-${++count}`, labels: { [labels.nodePool]: "default" }, ...spec.metadata },
      spec: {
        requirements: Object.entries(spec.wants ?? {}).map(([key, values]) => ({ key, operator: "In", values })),
        resources: { requests: spec.requests ?? { cpu: "1" } },
        nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default", ...spec.nodeClass },
        expireAfter: "Never",
        ...(spec.taints && { taints: spec.taints }),
      },
    });
  return {
    clock,
    api,
    client,
    cloud,
    provider,
    calls,
    troubles,
    start,
    create,
    answer,
    claimed: createClaim,
    /** A claim with its machine, as the lifecycle controller would have recorded it. */
    launchClaim: async (spec: ClaimRequest = {}) => {
      const claim = await createClaim(spec);
      const instance = await answer(provider.create(claim));
      const { providerId: providerID, capacity, allocatable, imageId } = instance;
      const name = claim.metadata.name ?? "";
      await client.patch(
        karpenterTypes.NodeClaim,
        { name },
        { kind: "merge", body: { metadata: { labels: instance.labels } } },
      );
      const told = await client.patch<Claim>(
        karpenterTypes.NodeClaim,
        { name },
        {
          kind: "merge",
          body: { status: { providerID, capacity, allocatable, ...(imageId && { imageID: imageId }) } },
        },
        { subresource: "status" },
      );
      await clock.advance(0);
      return { claim: told, instance };
    },
    get: <T extends KubeObject>(type: ResourceType, name: string): Promise<T | undefined> =>
      client.get<T>(type, { name }).catch((error: unknown) => {
        if (isKubeError(error, "not-found")) return undefined;
        throw error;
      }),
    events: async (name: string): Promise<readonly string[]> => {
      const { items } = await client.list<KubeObject & EventFacts>(builtInTypes.Event);
      return items
        .filter(({ involvedObject }) => involvedObject.name === name)
        .map(({ type, reason }) => `${type} ${reason}`)
        .sort();
    },
    stop: async () => {
      const stopping = Promise.all([running.stop(), cluster?.stop()]);
      await clock.advance(60_000);
      await stopping;
    },
  };
}
export type ProviderWorld = Awaited<ReturnType<typeof providerWorld>>;

export interface ClaimRequest {
  readonly metadata?: object;
  /** Values by label. */
  readonly wants?: Readonly<Record<string, readonly string[]>>;
  readonly requests?: Readonly<Record<string, string>>;
  readonly nodeClass?: { readonly group?: string; readonly kind?: string; readonly name?: string };
  readonly taints?: readonly object[];
}

export const ec2 = { group: "karpenter.k8s.aws", kind: "EC2NodeClass" } as const;

interface EventFacts {
  readonly involvedObject: { readonly name: string };
  readonly type: string;
  readonly reason: string;
}
