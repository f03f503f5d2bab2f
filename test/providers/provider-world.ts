import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import { labels } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { karpenterTypes } from "../../src/kube/resources.ts";
import type { SimulationSettings } from "../../src/providers/sim/simulation-settings.ts";
import { type TestWorldOptions, testWorld } from "../world/test-world.ts";

export { startAt } from "../world/api-world.ts";

export interface ProviderWorldOptions extends Pick<TestWorldOptions, "seed" | "provider"> {
  readonly settings?: Partial<SimulationSettings>;
  /** Which of the provider's controllers run; none unless named. */
  readonly controllers?: readonly string[];
  /** Whether kubelets and the like run. */
  readonly runsCluster?: boolean;
}

export type Claim = KubeObject & NodeClaim;

/** The simulated cloud and its provider, with those of its controllers that are asked for. */
export async function providerWorld({
  settings,
  controllers = [],
  runsCluster,
  ...options
}: ProviderWorldOptions = {}) {
  const world = await testWorld({ seed: "sim", simulation: settings, ...options });
  const { client, clock, provider, create } = world;
  if (runsCluster) world.startCluster();
  const start = (names: readonly string[]) =>
    world.startControllers({ controllers: provider.controllers.filter(({ name }) => names.includes(name)) });
  start(controllers);
  await world.pass(0);
  const answer = <T>(call: Promise<T>, ms = 1_000): Promise<T> => world.during(call, ms / 1_000);
  let count = 0;

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
    ...world,
    start,
    answer,
    claimed: createClaim,
    /** A claim with its instance, as the lifecycle controller would have recorded it. */
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
    /** Type and reason of the events about an object, sorted. */
    events: async (name: string): Promise<readonly string[]> =>
      (await world.events(name)).map(({ type, reason }) => `${type} ${reason}`).sort(),
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
