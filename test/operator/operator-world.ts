import type { KubeObject } from "../../src/api/object.ts";
import { ApiServer } from "../../src/control-plane/api/server.ts";
import { InProcessClient } from "../../src/control-plane/in-process-client.ts";
import { installCrds } from "../../src/control-plane/install-crds.ts";
import { startSimulatedCluster } from "../../src/control-plane/simulated-cluster.ts";
import { noMetrics } from "../../src/controllers/metrics/metrics.ts";
import { defaultSettings } from "../../src/controllers/settings.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import type { Lease } from "../../src/kube/lease.ts";
import { builtInTypes } from "../../src/kube/resources.ts";
import { type OperatorDependencies, startOperator } from "../../src/operator/operator.ts";
import { SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";
import { simulatedProvider } from "../../src/providers/sim/simulated-provider.ts";
import { Random } from "../../src/util/random.ts";
import { VirtualClock } from "../../src/util/virtual-clock.ts";
import { type LogLine, recordingLog } from "../world/recording-log.ts";
import { stepBudget } from "../world/step-budget.ts";

export const lease = { name: "karpenter-leader-election", namespace: "karpenter" };

/** A call of an operator that changes something. */
export interface Write {
  readonly by: string;
  readonly verb: string;
  readonly kind: string;
  readonly name: string;
}

export interface OperatorWorldOptions {
  readonly seed?: string;
  readonly hasCrds?: boolean;
}

/** A cluster with a cloud on the virtual clock, for operators to run on. */
export async function operatorWorld({ seed = "operator", hasCrds = true }: OperatorWorldOptions = {}) {
  const clock = new VirtualClock({ startAt: Date.parse("2026-01-01T00:00:00Z") });
  const random = new Random(seed);
  const api = new ApiServer({ clock, random: random.fork("api") });
  const client: KubeClient = new InProcessClient(api);
  if (hasCrds) await installCrds(api, "all");
  const namespace: KubeObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: lease.namespace } };
  await client.create(builtInTypes.Namespace, namespace);
  const cloud = new SimulatedCloud({ clock, random: random.fork("cloud") });
  const world = startSimulatedCluster({ api, clock, random: random.fork("world"), instances: cloud });
  const writes: Write[] = [];
  const start = (identity: string, options: Partial<OperatorDependencies> = {}) => {
    const own = recorded(client, { by: identity, writes });
    const lines: LogLine[] = [];
    let hasLost = false;
    const provider = simulatedProvider({ cloud, client: own, clock, random: random.fork(`${identity} provider`) });
    const operator = startOperator({
      client: own,
      leaseClient: own,
      provider,
      settings: defaultSettings,
      clock,
      random: random.fork(identity),
      log: recordingLog(lines),
      metrics: noMetrics,
      openBudget: stepBudget(),
      identity,
      leaderElection: lease,
      onLeaseLost: () => {
        hasLost = true;
      },
      ...options,
    });
    let hasBegun = false;
    void operator.started.then(() => {
      hasBegun = true;
    });
    return { ...operator, lines, hasLost: () => hasLost, hasBegun: () => hasBegun };
  };
  return {
    api,
    client,
    clock,
    cloud,
    writes,
    start,
    pass: (seconds: number) => clock.advance(seconds * 1_000),
    leader: async () => (await client.get<Lease>(builtInTypes.Lease, lease)).spec?.holderIdentity,
    /** Waits for something while time goes on. */
    during: async <T>(happening: Promise<T>, seconds = 60): Promise<T> => {
      await clock.advance(seconds * 1_000);
      return happening;
    },
    close: async () => {
      const ended = world.stop();
      await clock.advance(60_000);
      await ended;
    },
  };
}

function recorded(client: KubeClient, { by, writes }: { readonly by: string; readonly writes: Write[] }): KubeClient {
  const note = (verb: string, kind: string, name = ""): void => void writes.push({ by, verb, kind, name });
  return {
    get: (type, key) => client.get(type, key),
    list: (type, options) => client.list(type, options),
    watch: (type, options) => client.watch(type, options),
    create: (type, object, options) => {
      note("create", type.kind, object.metadata.name);
      return client.create(type, object, options);
    },
    update: (type, object, options) => {
      note("update", type.kind, object.metadata.name);
      return client.update(type, object, options);
    },
    patch: (type, key, patch, options) => {
      note("patch", type.kind, key.name);
      return client.patch(type, key, patch, options);
    },
    delete: (type, key, options) => {
      note("delete", type.kind, key.name);
      return client.delete(type, key, options);
    },
  };
}
