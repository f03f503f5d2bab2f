import { customResourceDefinition } from "../../src/api/crd.ts";
import { karpenterKindsOf } from "../../src/api/kinds/karpenter-kinds.ts";
import type { InstanceSource } from "../../src/cloud/instance-source.ts";
import { createObjects } from "../../src/control-plane/load-objects.ts";
import { type SimulatedClusterOptions, startSimulatedCluster } from "../../src/control-plane/simulated-cluster.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { type ControllerFailure, type StartControllersOptions, startControllers } from "../../src/kube/controller.ts";
import { type OperatorDependencies, type RunningOperator, startOperator } from "../../src/operator/operator.ts";
import { kwokInstanceTypes } from "../../src/providers/kwok/catalogue.ts";
import { type CloudCallEntry, SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";
import { type SimulatedProviderOptions, simulatedProvider } from "../../src/providers/sim/simulated-provider.ts";
import type { SimulationSettings } from "../../src/providers/sim/simulation-settings.ts";
import { deepFreeze } from "../../src/util/freeze.ts";
import { type ApiWorldOptions, apiWorld } from "./api-world.ts";
import { type ClientFaultRates, FaultPlan } from "./faults/fault-plan.ts";
import { FaultyClient, type FaultyClientOptions } from "./faults/faulty-client.ts";
import { operatorDefaults } from "./operator-defaults.ts";

/** Made once, as they are the same in every world and take longer to make than the rest of it. */
const definitions = deepFreeze(karpenterKindsOf("all").map((kind) => customResourceDefinition(kind, "all")));
const kwokTypes = kwokInstanceTypes();

export interface TestWorldOptions extends ApiWorldOptions {
  /** Whether the API server knows our kinds; it does, unless said. */
  readonly hasCrds?: boolean | undefined;
  readonly namespaces?: readonly string[] | undefined;
  /** The simulated cloud: boot times, stock, faults. */
  readonly simulation?: Partial<SimulationSettings> | undefined;
  /** Whether `cloudCalls` has every call; runs that last for weeks turn it off. */
  readonly keepsCloudCalls?: boolean | undefined;
  /** Told of every call the cloud gets, after it was recorded. */
  readonly onCloudCall?: ((entry: CloudCallEntry) => void) | undefined;
  readonly provider?: Partial<SimulatedProviderOptions> | undefined;
  /** What goes wrong between controllers and API server. Nothing, unless given. */
  readonly faults?: ClientFaultRates | undefined;
}

/** How one process reaches the API server. */
export interface ProcessClientOptions extends Pick<FaultyClientOptions, "onCrash" | "onFault"> {
  readonly rates?: ClientFaultRates | undefined;
  readonly crashAtCall?: number | undefined;
  /** The client below; that of the world, unless given. */
  readonly client?: KubeClient | undefined;
}

/**
 * A cluster in this process: an API server with our kinds on the virtual clock, and a simulated cloud with its
 * provider. Nothing runs in it yet: `startCluster`, `startControllers` and `startOperator` do that, and `stop` ends
 * all of them.
 */
export async function testWorld(options: TestWorldOptions = {}) {
  const base = apiWorld(options);
  const { api, client, clock, random } = base;
  if (options.hasCrds ?? true) await createObjects(api, definitions);
  for (const name of options.namespaces ?? [])
    await base.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const cloudCalls: CloudCallEntry[] = [];
  const cloud = new SimulatedCloud({
    clock,
    random: random.fork("cloud"),
    settings: options.simulation,
    onCall: (entry) => {
      if (options.keepsCloudCalls ?? true) cloudCalls.push(entry);
      options.onCloudCall?.(entry);
    },
  });
  const providerFor = (own: KubeClient, name = "provider", changes: Partial<SimulatedProviderOptions> = {}) =>
    simulatedProvider({
      cloud,
      client: own,
      clock,
      random: random.fork(name),
      kwokTypes,
      ...options.provider,
      ...changes,
    });
  const running: { stop(): Promise<unknown> }[] = [];
  const failures: ControllerFailure[] = [];
  const track = <T extends { stop(): Promise<unknown> }>(started: T): T => {
    running.push(started);
    return started;
  };
  /** Every process has a client of its own, which dies with it; each watch draws its delays from a seed of its own. */
  const processClient = (name: string, { client: below = client, ...faults }: ProcessClientOptions = {}) => {
    const { rates = options.faults, crashAtCall, onCrash, onFault } = faults;
    const plan = new FaultPlan({ random: random.fork(name).fork("faults"), rates, crashAtCall });
    return { plan, client: new FaultyClient({ client: below, clock, plan, onCrash, onFault }) };
  };
  const clientFor = (name: string): KubeClient => (options.faults === undefined ? client : processClient(name).client);
  return {
    ...base,
    cloud,
    cloudCalls,
    provider: providerFor(client),
    providerFor,
    processClient,
    /** What went wrong in controllers. */
    failures,
    /** Has `stop` stop this too. */
    track,
    /** Scheduler, kubelets, workload controllers and the rest of a cluster. */
    startCluster: (changes: Partial<SimulatedClusterOptions> & { readonly instances?: InstanceSource } = {}) =>
      track(startSimulatedCluster({ api, clock, random: random.fork("cluster"), instances: cloud, ...changes })),
    startControllers: ({ name = "controllers", ...changes }: ControllersToStart) =>
      track(
        startControllers({
          client: clientFor(name),
          clock,
          random: random.fork(name),
          eventSource: { component: "karpenter" },
          onFailure: (failure) => failures.push(failure),
          ...changes,
        }),
      ),
    /** A whole controller, as the process that runs in a cluster. */
    startOperator: (identity: string, changes: Partial<OperatorDependencies> = {}): RunningOperator => {
      const own = changes.client ?? clientFor(identity);
      return track(
        startOperator({
          ...operatorDefaults(),
          client: own,
          leaseClient: own,
          provider: providerFor(own, `${identity} provider`),
          clock,
          random: random.fork(identity),
          identity,
          ...changes,
        }),
      );
    },
    stop: async (): Promise<void> => {
      await base.during(Promise.all(running.splice(0).map((one) => one.stop())));
    },
  };
}
export type TestWorld = Awaited<ReturnType<typeof testWorld>>;

type ControllersToStart = Pick<StartControllersOptions, "controllers"> &
  Partial<StartControllersOptions> & { readonly name?: string | undefined };
