import { expect } from "vitest";
import { getCondition } from "../../src/api/conditions/set-condition.ts";
import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import type { Pod } from "../../src/api/kubernetes/pod.ts";
import { labels } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { type RunningOperator, startOperator } from "../../src/operator/operator.ts";
import { type AwsSettings, defaultAwsSettings } from "../../src/providers/aws/aws-settings.ts";
import { startAwsProvider } from "../../src/providers/aws/start-aws-provider.ts";
import { typeFor } from "../world/api-world.ts";
import { operatorDefaults } from "../world/operator-defaults.ts";
import { type LogLine, recordingLog } from "../world/recording-log.ts";
import { testWorld } from "../world/test-world.ts";
import { AccountInstances } from "./account-instances.ts";
import { type FakeAws, populatedAws } from "./fake-aws.ts";
import { type CallListener, KillableProcess } from "./killable.ts";
import { nodeClassManifest } from "./node-class-world.ts";

type Claim = KubeObject & NodeClaim;

export interface AwsStoryOptions {
  readonly settings?: Partial<AwsSettings>;
  /** Fills the account before anything runs. */
  readonly account?: (aws: FakeAws) => void;
}

const pool = {
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name: "pool" },
  spec: {
    template: {
      spec: {
        nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "web" },
        requirements: [{ key: labels.capacityType, operator: "In", values: ["spot", "on-demand"] }],
        expireAfter: "Never",
      },
    },
    disruption: { consolidateAfter: "Never", budgets: [{ nodes: "100%" }] },
  },
};

function deployment(replicas: number): KubeObject {
  const app = { app: "web" };
  const resources = { requests: { cpu: "1200m", memory: "512Mi" } }; // one on each node
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: {
      replicas,
      selector: { matchLabels: app },
      template: { metadata: { labels: app }, spec: { containers: [{ name: "web", image: "web", resources }] } },
    },
  };
}

const deploymentType = typeFor(deployment(0));

/** A whole cluster with our controller on the fake account: class and pool are there and ready, nothing else is. */
export async function awsStory(options: AwsStoryOptions = {}) {
  const world = await testWorld({ seed: "aws story" });
  const { clock, random, client } = world;
  const aws = populatedAws({ clock, types: (name) => /^(m5|c5|r5)\.large$/.test(name) });
  aws.images.push({ ...aws.images[0], ImageId: "ami-new", Name: "image-new" });
  aws.queues.set("demo", []);
  options.account?.(aws);
  const instances = new AccountInstances({ running: async () => aws.running(), client, clock });
  world.startCluster({ instances });
  const settings = { ...defaultAwsSettings, clusterName: "demo", interruptionQueue: "demo", ...options.settings };
  const lines: LogLine[] = [];
  const log = recordingLog(lines);
  let onCall: CallListener | undefined;
  let running: { readonly operator: RunningOperator; readonly process: KillableProcess } | undefined;
  let starts = 0;

  const start = async (): Promise<void> => {
    const process = new KillableProcess((call) => onCall?.(call));
    const own = random.fork(`operator ${++starts}`);
    const ownClient = process.around(client);
    const provider = await startAwsProvider({
      ...{ aws: process.around(aws.api), client: ownClient, clock, log, settings },
      random: own.fork("provider"),
      usesReservations: true,
      usesOverlays: false,
      connectionCa: "certificate",
      serverVersion: async () => "1.33",
      signal: new AbortController().signal,
    });
    const operator = startOperator({
      ...operatorDefaults(),
      ...{ client: ownClient, leaseClient: ownClient, provider, clock, log, random: own },
      identity: `operator-${starts}`,
    });
    running = { operator, process };
  };

  await start();
  await world.create(nodeClassManifest("web", { amiFamily: "AL2023", amiSelectorTerms: [{ id: "ami-amd64" }] }), pool);
  await world.pass(5);
  return {
    ...world,
    ...{ aws, lines, start, deployment, store: world.create },
    starts: () => starts,
    /** Told of each call of the controller that took effect, before the controller hears of it. */
    listenToCalls: (listener: CallListener | undefined): void => {
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
    stop: async (): Promise<void> => {
      instances.stop();
      if (running !== undefined) await world.during(running.operator.stop(), 5);
      await world.stop();
    },
  };
}

export type AwsStory = Awaited<ReturnType<typeof awsStory>>;

const patienceSeconds = 1_500;

/** Lets time pass until it holds. */
async function until<T>(world: AwsStory, what: string, probe: () => Promise<T | undefined>): Promise<T> {
  for (let second = 0; second < patienceSeconds; second += 2) {
    const found = await probe();
    if (found !== undefined) return found;
    await world.pass(2);
  }
  const claims = (await claimsOf(world)).map(({ metadata, status }) => ({ name: metadata.name, status }));
  const log = world.lines.slice(-20).map((line) => JSON.stringify(line));
  throw new Error(`${what}: not within ${patienceSeconds} s\n${JSON.stringify(claims)}\n${log.join("\n")}`);
}

function claimsOf({ list }: AwsStory): Promise<readonly Claim[]> {
  return list<Claim>(karpenterTypes.NodeClaim);
}

/** As many pods run, each on an initialized node with an instance, and there is no instance besides. */
function untilRunning(world: AwsStory, count: number): Promise<readonly Claim[]> {
  return until(world, `${count} pods run, and as many instances`, async () => {
    const pods = (await world.list<KubeObject & Pod>(builtInTypes.Pod)).filter(
      ({ status, metadata }) => status?.phase === "Running" && metadata.deletionTimestamp === undefined,
    );
    const claims = await claimsOf(world);
    const settled = claims.filter(
      (claim) =>
        getCondition(claim, "Initialized")?.status === "True" && claim.metadata.deletionTimestamp === undefined,
    );
    const counts = [pods.length, settled.length, claims.length, world.aws.running().length];
    return counts.every((length) => length === count) ? claims : undefined;
  });
}

async function untilReplaced(world: AwsStory, gone: readonly Claim[]): Promise<readonly Claim[]> {
  const names = new Set(gone.map(({ metadata }) => metadata.name));
  await until(world, "the claims are replaced", async () =>
    (await claimsOf(world)).some(({ metadata }) => names.has(metadata.name)) ? undefined : true,
  );
  return untilRunning(world, gone.length > 1 ? gone.length : 2);
}

/** From a class to nodes, through drift, interruption and a stockout, to an empty account. */
export async function wholeAwsStory(world: AwsStory): Promise<void> {
  const { aws, client } = world;
  await world.store(deployment(2));
  const first = await untilRunning(world, 2);
  expect(first.map(({ status }) => status?.imageID)).toEqual(["ami-amd64", "ami-amd64"]);

  const body = { spec: { amiSelectorTerms: [{ id: "ami-new" }] } };
  await client.patch(karpenterTypes.EC2NodeClass, { name: "web" }, { kind: "merge", body });
  const drifted = await untilReplaced(world, first);
  expect(drifted.map(({ status }) => status?.imageID)).toEqual(["ami-new", "ami-new"]);

  const [interrupted] = drifted;
  if (interrupted === undefined) throw new Error("no claim");
  interruptSpot(world, interrupted);
  const replaced = await untilReplaced(world, [interrupted]);

  for (const zone of ["a", "b", "c", "d"]) {
    for (const capacityType of ["spot", "on-demand"]) {
      const sold = { code: "InsufficientInstanceCapacity", message: "We currently do not have sufficient capacity." };
      aws.poolErrors.set(`${capacityType}:c5.large:us-west-2${zone}`, sold);
    }
  }
  const before = new Set(replaced.map(({ metadata }) => metadata.name));
  const patch = { kind: "merge", body: { spec: { replicas: 4 } } } as const;
  await client.patch(deploymentType, { name: "web", namespace: "default" }, patch);
  const launched = (await untilRunning(world, 4)).filter(({ metadata }) => !before.has(metadata.name));
  expect(launched.map(({ metadata }) => metadata.labels?.[labels.instanceType])).toEqual(["m5.large", "m5.large"]);
  await deleteAll(world);
}

function interruptSpot({ aws, clock }: AwsStory, { status }: Claim): void {
  const detail = { "instance-id": status?.providerID?.split("/").at(-1), "instance-action": "terminate" };
  const envelope = { version: "0", source: "aws.ec2", "detail-type": "EC2 Spot Instance Interruption Warning" };
  const Body = JSON.stringify({ ...envelope, time: new Date(clock.now()).toISOString(), detail });
  aws.queues.get("demo")?.push({ MessageId: "1", ReceiptHandle: "1", Body });
}

async function deleteAll(world: AwsStory): Promise<void> {
  const { client, aws } = world;
  await client.delete(deploymentType, { name: "web", namespace: "default" });
  await client.delete(karpenterTypes.NodePool, { name: "pool" });
  await client.delete(karpenterTypes.EC2NodeClass, { name: "web" });
  await until(world, "everything is gone, in the cluster and in the account", async () => {
    const classes = await world.list(karpenterTypes.EC2NodeClass);
    const left = [classes, await claimsOf(world), aws.running(), [...aws.launchTemplates], [...aws.instanceProfiles]];
    return left.every(({ length }) => length === 0) ? true : undefined;
  });
}
