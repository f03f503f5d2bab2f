import type { Instance } from "@aws-sdk/client-ec2";
import type { KubeObject } from "../../../src/api/object.ts";
import { installCrds } from "../../../src/control-plane/install-crds.ts";
import { startSimulatedCluster } from "../../../src/control-plane/simulated-cluster.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { jsonLogger } from "../../../src/operator/json-logger.ts";
import { promMetrics } from "../../../src/operator/metrics/prom-metrics.ts";
import { type RunningOperator, startOperator } from "../../../src/operator/operator.ts";
import type { AwsApi } from "../../../src/providers/aws/api/aws-api.ts";
import { measuredAws } from "../../../src/providers/aws/api/measured-aws.ts";
import { defaultAwsSettings } from "../../../src/providers/aws/aws-settings.ts";
import { startAwsProvider } from "../../../src/providers/aws/start-aws-provider.ts";
import { acceleratedClock } from "../../../src/util/clock.ts";
import { apiOn, typeFor } from "../../world/api-world.ts";
import { operatorDefaults } from "../../world/operator-defaults.ts";
import { type CallListener, KillableProcess } from "../killable.ts";
import { motoInstances } from "./moto-instances.ts";
import type { WireAccount } from "./shared.ts";

/** Waiting is quicker than on a real cluster; calls to moto are not. */
const speed = 15;

/** A cluster in this process whose controller runs nodes in an account of moto. */
export async function wireWorld(account: WireAccount) {
  const { api: aws, cluster: clusterName, motoUrl: url, region } = account;
  const startAt = Date.now();
  const clock = acceleratedClock({ speed, startAt });
  const { api, client, random } = apiOn(clock, { seed: "wire" });
  await installCrds(api, "all");
  const dns = { apiVersion: "v1", kind: "Service", metadata: { name: "kube-dns", namespace: "kube-system" } };
  const create = async (...objects: readonly object[]): Promise<void> => {
    for (const object of objects as readonly KubeObject[]) await client.create(typeFor(object), object);
  };
  await create({ ...dns, spec: { clusterIP: "10.100.0.10", ports: [{ port: 53 }], selector: { app: "dns" } } });
  const instances = motoInstances({ url, region, client, clock });
  const cluster = startSimulatedCluster({ api, clock, random: random.fork("cluster"), instances });
  const written: string[] = [];
  const log = jsonLogger({
    level: "debug",
    destination: { write: (line: string) => void written.push(line) },
    clock,
    commit: "test",
  });
  const { metrics, registry } = promMetrics();
  const settings = { ...defaultAwsSettings, clusterName, interruptionQueue: clusterName };
  const stopping = new AbortController();
  let running: { readonly operator: RunningOperator; readonly process: KillableProcess } | undefined;
  let starts = 0;
  let onCall: CallListener | undefined;

  /** A whole controller, as the process that runs in a cluster. */
  const start = async (): Promise<void> => {
    const process = new KillableProcess((call) => onCall?.(call));
    const own = random.fork(`operator ${++starts}`);
    const ownClient = process.around(client);
    const provider = await startAwsProvider({
      aws: process.around(measuredAws(launchedOnOurClock(aws, startAt), { metrics, clock })),
      ...{ client: ownClient, clock, log, metrics, settings },
      random: own.fork("provider"),
      usesReservations: true,
      usesOverlays: false,
      connectionCa: "certificate",
      serverVersion: async () => account.kubernetesVersion,
      signal: stopping.signal,
    });
    const operator = startOperator({
      ...operatorDefaults(),
      ...{ client: ownClient, leaseClient: ownClient, provider, clock, log, metrics, random: own },
      identity: `operator-${starts}`,
    });
    running = { operator, process };
  };

  return {
    ...{ client, clock, create, start, instances, account },
    starts: () => starts,
    /** Told of each call of the controller that took effect, before the controller hears of it. */
    listenToCalls: (listener: CallListener): void => {
      onCall = listener;
    },
    /** Ends the process in the middle of whatever it does. Whether there was one. */
    kill: (): boolean => {
      if (running === undefined) return false;
      running.process.kill();
      void running.operator.stop();
      running = undefined;
      return true;
    },
    /** Everything a person could read of it: log lines, events, metrics. */
    readable: async (): Promise<string> => {
      const { items } = await client.list(builtInTypes.Event);
      return [...written, JSON.stringify(items), await registry.metrics()].join("\n");
    },
    stop: async (): Promise<void> => {
      await running?.operator.stop();
      stopping.abort();
      await cluster.stop();
      instances.stop();
    },
  };
}

/** moto's instances were launched by our clock, not by its own: by that they would be minutes old at once, and count as leaked. */
function launchedOnOurClock(aws: AwsApi, startAt: number): AwsApi {
  const onOurClock = ({ LaunchTime, ...instance }: Instance): Instance => {
    if (LaunchTime === undefined) return instance;
    return { ...instance, LaunchTime: new Date(startAt + (LaunchTime.getTime() - startAt) * speed) };
  };
  const { describeInstances } = aws.ec2;
  const ec2 = {
    ...aws.ec2,
    describeInstances: async (...asked: Parameters<typeof describeInstances>) =>
      (await describeInstances(...asked)).map(onOurClock),
  };
  return { ...aws, ec2 };
}

export type WireWorld = Awaited<ReturnType<typeof wireWorld>>;
