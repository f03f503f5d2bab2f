import { afterEach } from "vitest";
import type { Ec2NodeClass } from "../../src/api/kinds/ec2-node-class.ts";
import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import { labels } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import type { Instance } from "../../src/cloud/cloud-provider.ts";
import type { Controller } from "../../src/kube/controller.ts";
import { karpenterTypes } from "../../src/kube/resources.ts";
import type { AwsApi } from "../../src/providers/aws/api/aws-api.ts";
import { type AwsSettings, defaultAwsSettings } from "../../src/providers/aws/aws-settings.ts";
import type { Ec2NodeClassSpec } from "../../src/providers/aws/node-class/node-class-object.ts";
import { type StartAwsOptions, startAwsProvider } from "../../src/providers/aws/start-aws-provider.ts";
import { type LogLine, recordingLog } from "../world/recording-log.ts";
import { recordingMetrics } from "../world/recording-metrics.ts";
import { testWorld } from "../world/test-world.ts";
import { type FakeAws, populatedAws } from "./fake-aws.ts";
import { nodeClassManifest } from "./node-class-world.ts";

export interface AwsWorldOptions {
  readonly settings?: Partial<AwsSettings>;
  readonly usesReservations?: boolean;
  /** Which types of the embedded catalogue the region has. */
  readonly types?: (name: string) => boolean;
  /** Fills the account before anything runs. */
  readonly account?: (aws: FakeAws) => void;
  readonly nodeClass?: Partial<Ec2NodeClassSpec>;
  readonly start?: Partial<StartAwsOptions>;
  /** Come between the provider and the account, and before each of its controllers. */
  readonly wrapApi?: (api: AwsApi) => AwsApi;
  readonly wrapController?: (controller: Controller) => Controller;
  /** Which of the provider's controllers run; all, unless given. */
  readonly runs?: (controller: Controller) => boolean;
}

/** Opens worlds for the tests of a file; each is stopped after its test. */
export function opensAwsWorlds(common: AwsWorldOptions = {}): (options?: AwsWorldOptions) => Promise<AwsWorld> {
  const worlds: AwsWorld[] = [];
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.stop();
  });
  return async (options = {}) => {
    const world = await awsWorld({ ...common, ...options });
    worlds.push(world);
    return world;
  };
}

/** The AWS provider with its controllers over the fake account, and an EC2NodeClass `web` that is ready. */
export async function awsWorld(options: AwsWorldOptions = {}) {
  const world = await testWorld({ seed: "aws" });
  const { clock, random, client } = world;
  const aws = populatedAws({ clock, ...(options.types && { types: options.types }) });
  options.account?.(aws);
  const lines: LogLine[] = [];
  const metrics = recordingMetrics();
  const settings = { ...defaultAwsSettings, clusterName: "demo", ...options.settings };
  const start = (changes: Partial<StartAwsOptions> = {}) =>
    startAwsProvider({
      ...{ aws: options.wrapApi?.(aws.api) ?? aws.api, client, clock, random: random.fork("aws"), metrics, settings },
      log: recordingLog(lines),
      usesReservations: options.usesReservations ?? true,
      usesOverlays: true,
      connectionCa: "certificate",
      serverVersion: async () => "1.33",
      signal: new AbortController().signal,
      ...changes,
    });
  const provider = await start(options.start);
  const { wrapController = (controller: Controller) => controller, runs = () => true } = options;
  const controllers = provider.controllers.filter(runs).map(wrapController);
  const running = world.startControllers({ name: "aws", controllers, log: recordingLog(lines) });
  await world.create(nodeClassManifest("web", options.nodeClass));
  await world.pass(5);
  const claimOf = (name: string, change: ClaimChange = {}): NodeClaim => ({
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: { name, uid: `uid-${name}`, labels: { [labels.nodePool]: "pool" }, ...change.metadata },
    spec: {
      expireAfter: "Never",
      requirements: change.requirements ?? [],
      resources: { requests: { cpu: "1", ...change.requests } },
      nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: change.nodeClass ?? "web" },
    },
  });
  return {
    ...world,
    aws,
    metrics,
    lines,
    provider,
    settings,
    start,
    stopControllers: () => world.during(running.stop(), 1),
    store: world.create,
    claimOf,
    /** What Prometheus would read now of a metric: by its labels in order, joined with spaces. */
    gauge: (name: string, labelNames: readonly string[]) =>
      new Map(
        [...metrics.series, ...metrics.collected()]
          .filter(([key]) => key.startsWith(`${name}{`))
          .map(([key, value]) => [
            labelNames.map((label) => new RegExp(`[{,]${label}="([^"]*)"`).exec(key)?.[1]).join(" "),
            value,
          ]),
      ),
    create: (name: string, change: ClaimChange = {}) => world.during(provider.create(claimOf(name, change)), 5),
    nodeClass: () => world.get<KubeObject & Ec2NodeClass>(karpenterTypes.EC2NodeClass, "web"),
  };
}

/** A NodePool of an EC2NodeClass. */
export function awsPool(name: string, nodeClass = "web", requirements: readonly object[] = []): object {
  const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: nodeClass };
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name },
    spec: { template: { spec: { requirements, nodeClassRef, expireAfter: "Never" } } },
  };
}

export interface ClaimChange {
  readonly requirements?: NodeClaim["spec"]["requirements"];
  readonly requests?: Readonly<Record<string, string>>;
  readonly metadata?: Partial<NodeClaim["metadata"]>;
  readonly nodeClass?: string;
}

export type AwsWorld = Awaited<ReturnType<typeof awsWorld>>;

/** Requirements of a claim for m5.large. */
export const inLarge = (zone: string, capacityType: string) => [
  { key: labels.instanceType, operator: "In" as const, values: ["m5.large"] },
  { key: labels.capacityType, operator: "In" as const, values: [capacityType] },
  { key: labels.zone, operator: "In" as const, values: [zone] },
];

/** A claim as it stands after its launch. */
export function launchedClaim(
  one: AwsWorld,
  { providerId: providerID, imageId: imageID = "", labels: known, annotations }: Instance,
  { name = "a", ...change }: ClaimChange & { readonly name?: string } = {},
): NodeClaim {
  const claim = one.claimOf(name, change);
  return {
    ...claim,
    metadata: { ...claim.metadata, labels: { ...known }, annotations: { ...annotations } },
    status: { providerID, imageID },
  } as NodeClaim;
}

/** Stores a claim with its status; the API server gives it another uid. */
export async function storeClaim(one: AwsWorld, claim: NodeClaim, status: object = {}): Promise<void> {
  const { uid: _, ...metadata } = claim.metadata;
  await one.store({ apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata, spec: claim.spec });
  const name = claim.metadata.name ?? "";
  const patch = { kind: "merge", body: { status: { ...claim.status, ...status } } } as const;
  await one.client.patch(karpenterTypes.NodeClaim, { name }, patch, { subresource: "status" });
}

interface JoinOptions {
  readonly memory?: string;
  /** Between the launch and the Node that joins. */
  readonly beforeNode?: () => Promise<void>;
}

/** Launches an instance and stores its claim and Node as they are once it has joined. */
export async function joined(
  one: AwsWorld,
  requirements = inLarge("us-west-2a", "on-demand"),
  { memory = "7600Mi", beforeNode }: JoinOptions = {},
) {
  const { providerId, imageId, labels: known } = await one.create("a", { requirements });
  const { uid: _, ...metadata } = one.claimOf("a").metadata;
  const { spec } = one.claimOf("a", { requirements });
  const all = { ...metadata.labels, ...known };
  await one.store({ apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata: { ...metadata, labels: all }, spec });
  const status = { providerID: providerId, imageID: imageId ?? "", nodeName: "node-a" };
  await one.client.patch(
    karpenterTypes.NodeClaim,
    { name: "a" },
    { kind: "merge", body: { status } },
    { subresource: "status" },
  );
  await beforeNode?.();
  const nodeLabels = { ...all, [labels.registered]: "true" };
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: "node-a", labels: nodeLabels } };
  await one.store({ ...node, spec: { providerID: providerId } });
  await one.status(node as KubeObject, { capacity: { cpu: "2", memory } });
  await one.pass(1);
  return providerId;
}
