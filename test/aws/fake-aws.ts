import type {
  CapacityReservation,
  Image,
  Instance,
  InstanceStatus,
  InstanceTypeInfo,
  InstanceTypeOffering,
  PlacementGroup,
  SecurityGroup,
  SpotPrice,
  Subnet,
} from "@aws-sdk/client-ec2";
import type { Cluster } from "@aws-sdk/client-eks";
import type { InstanceProfile } from "@aws-sdk/client-iam";
import type { Message } from "@aws-sdk/client-sqs";
import type { AwsApi } from "../../src/providers/aws/api/aws-api.ts";
import { AwsError } from "../../src/providers/aws/api/aws-error.ts";
import type { Clock } from "../../src/util/clock.ts";
import { fakeEc2 } from "./fake-ec2.ts";
import type { StoredLaunchTemplate } from "./fake-fleet.ts";
import { fakeIam } from "./fake-iam.ts";
import { describedInstanceTypes, describedOfferings } from "./fake-instance-types.ts";

/** A call as it was made. */
export interface RecordedCall {
  /** For example `ec2:CreateFleet`. */
  readonly operation: string;
  readonly input: unknown;
}

export interface FakeAwsOptions {
  readonly clock: Clock;
  readonly region?: string;
  /** Which types of the embedded catalogue the region has; a few common ones, unless given. */
  readonly types?: (name: string) => boolean;
  /** How long a call takes. */
  readonly latencyMs?: number;
}

const commonFamilies = ["m5", "c5", "r5", "t3", "m6g", "g4dn", "inf1", "p3"];

/**
 * One AWS account in memory, behind the interface the provider uses. A test fills its lists, looks at its calls, and lets
 * calls fail or pools run out.
 */
export class FakeAws {
  readonly region: string;
  readonly api: AwsApi;
  readonly calls: RecordedCall[] = [];

  instanceTypes: InstanceTypeInfo[];
  typeOfferings: InstanceTypeOffering[];
  spotPrices: SpotPrice[] = [];
  /** Answers of the price list, as JSON texts. */
  products: string[] = [];
  readonly subnets: Subnet[] = [];
  readonly securityGroups: SecurityGroup[] = [];
  readonly images: Image[] = [];
  readonly capacityReservations: CapacityReservation[] = [];
  readonly placementGroups: PlacementGroup[] = [];
  instanceStatuses: InstanceStatus[] = [];
  readonly launchTemplates = new Map<string, StoredLaunchTemplate>();
  readonly instances = new Map<string, Instance>();
  readonly instanceProfiles = new Map<string, InstanceProfile>();
  readonly roles = new Set<string>();
  readonly parameters = new Map<string, string>();
  readonly clusters = new Map<string, Cluster>();
  /** Messages by name of the queue. */
  readonly queues = new Map<string, Message[]>();
  shiftedZoneIds: string[] = [];
  /** How many instances each pool still has, by `spot:m5.large:us-west-2a` or reservation id; others never run out. */
  readonly pools = new Map<string, number>();
  /** What CreateFleet answers for a pool instead of launching from it. */
  readonly poolErrors = new Map<string, { readonly code: string; readonly message: string }>();
  /** How long an instance is shutting down before it is terminated. */
  shutdownMs = 0;
  /** How long calls take that are not as quick as the others. */
  readonly delaysMs = new Map<string, number>();

  readonly #clock: Clock;
  readonly #latencyMs: number;
  readonly #failures = new Map<string, (Error | (() => Error | undefined))[]>();
  readonly #terminatedAt = new Map<string, number>();
  readonly #hiddenUntil = new Map<string, number>();
  #ids = 0;

  constructor({ clock, region = "us-west-2", types, latencyMs = 0 }: FakeAwsOptions) {
    this.#clock = clock;
    this.region = region;
    this.#latencyMs = latencyMs;
    const wanted = types ?? ((name) => commonFamilies.includes(name.split(".")[0] ?? ""));
    this.instanceTypes = describedInstanceTypes(wanted);
    this.typeOfferings = describedOfferings(region, wanted);
    this.api = {
      region,
      ec2: fakeEc2(this),
      iam: fakeIam(this),
      ssm: { getParameter: (name) => this.call("ssm", "GetParameter", { name }, () => this.#parameter(name)) },
      eks: { describeCluster: (name) => this.call("eks", "DescribeCluster", { name }, () => this.#cluster(name)) },
      pricing: { getProducts: (input) => this.call("pricing", "GetProducts", input, () => this.products) },
      sqs: {
        getQueueUrl: (name) => this.call("sqs", "GetQueueUrl", { name }, () => this.#queueUrl(name)),
        receiveMessages: (url) => this.call("sqs", "ReceiveMessage", { url }, () => this.#receive(queueNameOf(url))),
        deleteMessage: (url, receiptHandle) =>
          this.call("sqs", "DeleteMessage", { url, receiptHandle }, () => {
            const kept = (this.queues.get(queueNameOf(url)) ?? []).filter((one) => one.ReceiptHandle !== receiptHandle);
            this.queues.set(queueNameOf(url), kept);
          }),
      },
      zonalShift: {
        shiftedZoneIds: (clusterArn) =>
          this.call("arc-zonal-shift", "GetManagedResource", { clusterArn }, () => this.shiftedZoneIds),
      },
    };
  }

  now(): number {
    return this.#clock.now();
  }

  newId(prefix: string): string {
    return `${prefix}-${(++this.#ids).toString(16).padStart(17, "0")}`;
  }

  /** Records a call, waits as long as it takes, and fails it if the test said so. */
  async call<T>(service: string, operation: string, input: unknown, run: () => T): Promise<T> {
    const name = `${service}:${operation}`;
    this.calls.push({ operation: name, input: structuredClone(input) });
    const delayMs = this.delaysMs.get(name) ?? this.#latencyMs;
    if (delayMs > 0) await this.#clock.sleep(delayMs);
    else await Promise.resolve();
    const failure = this.#failures.get(name)?.shift();
    const error = typeof failure === "function" ? failure() : failure;
    if (error !== undefined) throw error;
    return run();
  }

  /** The next calls of the operation fail. */
  failNext(
    operation: string,
    error: { readonly code: string; readonly message?: string; readonly status?: number },
    times = 1,
  ): void {
    const { code, message = code, status = 400 } = error;
    const failures = this.#failures.get(operation) ?? [];
    for (let count = 0; count < times; count++) failures.push(new AwsError(operation, code, message, { status }));
    this.#failures.set(operation, failures);
  }

  /** The operation fails no more. */
  recover(operation: string): void {
    this.#failures.delete(operation);
  }

  /** Inputs of all calls of the operation. */
  inputsOf<T>(operation: string): T[] {
    return this.calls.filter((one) => one.operation === operation).map(({ input }) => input as T);
  }

  poolSize(pool: string): number {
    return this.pools.get(pool) ?? Number.POSITIVE_INFINITY;
  }

  takeFromPool(pool: string, wanted: number): number {
    const left = this.poolSize(pool);
    const taken = Math.min(left, wanted);
    if (Number.isFinite(left)) this.pools.set(pool, left - taken);
    return taken;
  }

  /** Also what EC2 does by itself, without a call of ours. */
  terminate(id: string): void {
    if (!this.#terminatedAt.has(id)) this.#terminatedAt.set(id, this.now());
  }

  /** All instances with their state now. */
  describeInstances(): Instance[] {
    return [...this.instances].map(([id, instance]) => {
      const at = this.#terminatedAt.get(id);
      if (at === undefined) return { ...instance };
      return { ...instance, State: { Name: this.now() - at < this.shutdownMs ? "shutting-down" : "terminated" } };
    });
  }

  /** Instances that have not been asked to end. */
  running(): Instance[] {
    return this.describeInstances().filter(({ InstanceId = "" }) => !this.#terminatedAt.has(InstanceId));
  }

  #parameter(name: string): string {
    const value = this.parameters.get(name);
    if (value === undefined) throw new AwsError("ssm:GetParameter", "ParameterNotFound", name, { status: 400 });
    return value;
  }

  #cluster(name: string): Cluster {
    const cluster = this.clusters.get(name);
    if (cluster === undefined) {
      throw new AwsError("eks:DescribeCluster", "ResourceNotFoundException", `No cluster found for name: ${name}.`, {
        status: 404,
      });
    }
    return cluster;
  }

  /** Ten at most; what was received is hidden for 20 s. */
  #receive(queue: string): Message[] {
    const visible = (this.queues.get(queue) ?? []).filter(
      ({ ReceiptHandle = "" }) => this.now() >= (this.#hiddenUntil.get(ReceiptHandle) ?? 0),
    );
    const received = visible.slice(0, 10);
    for (const { ReceiptHandle = "" } of received) this.#hiddenUntil.set(ReceiptHandle, this.now() + 20_000);
    return received;
  }

  #queueUrl(name: string): string {
    if (!this.queues.has(name)) {
      throw new AwsError("sqs:GetQueueUrl", "QueueDoesNotExist", "The specified queue does not exist.", {
        status: 400,
      });
    }
    return `https://sqs.invalid/${name}`;
  }
}

function queueNameOf(url: string): string {
  return url.slice(url.lastIndexOf("/") + 1);
}

/** An account with a subnet in every zone, a security group, a role and an image for each architecture, tagged for `cluster`. */
export function populatedAws(options: FakeAwsOptions & { readonly cluster?: string }): FakeAws {
  const aws = new FakeAws(options);
  const cluster = options.cluster ?? "demo";
  const Tags = [{ Key: "karpenter.sh/discovery", Value: cluster }];
  const zones = [...new Set(aws.typeOfferings.map(({ Location = "" }) => Location))].sort();
  zones.forEach((AvailabilityZone, index) => {
    aws.subnets.push({
      SubnetId: `subnet-${index + 1}`,
      VpcId: "vpc-1",
      AvailabilityZone,
      AvailabilityZoneId: `${aws.region === "us-east-1" ? "use1" : "usw2"}-az${index + 1}`,
      AvailableIpAddressCount: 4_000,
      Tags,
    });
  });
  aws.securityGroups.push({ GroupId: "sg-1", GroupName: "nodes", VpcId: "vpc-1", Tags });
  aws.roles.add("KarpenterNodeRole");
  for (const [ImageId, Architecture] of [
    ["ami-amd64", "x86_64"],
    ["ami-arm64", "arm64"],
  ] as const) {
    aws.images.push({
      ImageId,
      Name: `image-${Architecture}`,
      Architecture,
      State: "available",
      CreationDate: "2026-01-01T00:00:00.000Z",
      Tags,
    });
  }
  aws.clusters.set(cluster, {
    name: cluster,
    arn: `arn:aws:eks:${aws.region}:000000000000:cluster/${cluster}`,
    version: "1.33",
    endpoint: "https://cluster.invalid",
    certificateAuthority: { data: "Y2E=" },
    kubernetesNetworkConfig: { serviceIpv4Cidr: "10.100.0.0/16" },
  });
  return aws;
}
