import type { Instance as Ec2Instance } from "@aws-sdk/client-ec2";
import { awsLabels, awsTags, labels } from "../../../api/labels.ts";
import { CloudError } from "../../../cloud/cloud-error.ts";
import { type BatchResult, RequestBatcher } from "../../../cloud/request-batcher.ts";
import type { Clock } from "../../../util/clock.ts";
import type { Ec2Api } from "../api/aws-api.ts";
import { isAwsError } from "../api/aws-error.ts";
import { type Tags, tagList } from "../launch/launch-tags.ts";

export interface Ec2InstancesOptions {
  readonly ec2: Ec2Api;
  readonly clock: Clock;
  readonly clusterName: string;
  /** Whether the cluster is shifted away from the zone; its instances cannot be asked for then. */
  readonly isShifted: (zone: string) => boolean;
  readonly observe?: (
    batcher: "describe_instances" | "terminate_instances",
    batch: { readonly size: number; readonly waitedMs: number },
  ) => void;
}

const notFoundCode = "InvalidInstanceID.NotFound";
const batching = { idleMs: 100, maxMs: 1_000, maxItems: 500 } as const;
/** All but terminated. (04 §3.8) */
const existingStates = ["pending", "running", "stopping", "stopped", "shutting-down"];
const goingStates = ["shutting-down", "terminated"];
const stateFilter = { Name: "instance-state-name", Values: existingStates };

/** The instances of the cluster in EC2. (04 §3.8) */
export class Ec2Instances {
  readonly #options: Ec2InstancesOptions;
  /** As last read; a list replaces all of it. */
  readonly #cache = new Map<string, Ec2Instance>();
  readonly #describing: RequestBatcher<string, Ec2Instance>;
  readonly #terminating: RequestBatcher<string, undefined>;

  constructor(options: Ec2InstancesOptions) {
    this.#options = options;
    const { clock, observe } = options;
    this.#describing = new RequestBatcher({
      ...batching,
      clock,
      keyOf: () => "",
      run: (ids) => this.#describeAll(ids),
      observe: (batch) => observe?.("describe_instances", batch),
    });
    this.#terminating = new RequestBatcher({
      ...batching,
      clock,
      keyOf: () => "",
      run: (ids) => this.#terminateAll(ids),
      observe: (batch) => observe?.("terminate_instances", batch),
    });
  }

  /** `not-found` once EC2 lists it only as terminated, or not at all. */
  async get(id: string, { skipCache = false }: { readonly skipCache?: boolean } = {}): Promise<Ec2Instance> {
    const known = this.#cache.get(id);
    const zone = known?.Placement?.AvailabilityZone ?? "";
    if (known !== undefined && (!skipCache || this.#options.isShifted(zone))) return known;
    try {
      const instance = await this.#describing.add(id);
      this.#cache.set(id, instance);
      return instance;
    } catch (error) {
      if (error instanceof CloudError) this.#cache.delete(id);
      throw error;
    }
  }

  /** All of the cluster. */
  async list(): Promise<readonly Ec2Instance[]> {
    const { ec2, clusterName, isShifted } = this.#options;
    const found = await ec2.describeInstances({
      Filters: [
        { Name: "tag-key", Values: [labels.nodePool] },
        { Name: "tag-key", Values: [awsLabels.nodeClass] },
        { Name: `tag:${awsTags.clusterName}`, Values: [clusterName] },
        stateFilter,
      ],
    });
    const ids = new Set(found.map(({ InstanceId }) => InstanceId));
    for (const [id, { Placement }] of this.#cache) {
      if (!ids.has(id) && !isShifted(Placement?.AvailabilityZone ?? "")) this.#cache.delete(id);
    }
    for (const instance of found) this.#cache.set(instance.InstanceId ?? "", instance);
    return found;
  }

  /** Starts termination; an instance that is shutting down already is left to it. */
  async terminate(id: string): Promise<void> {
    const instance = await this.get(id, { skipCache: true });
    this.#refuseIfShifted(instance, "terminate");
    if (instance.State?.Name === "shutting-down") return;
    await this.#terminating.add(id);
    this.#cache.delete(id);
  }

  async tag(id: string, tags: Tags): Promise<void> {
    const known = this.#cache.get(id);
    if (known !== undefined) this.#refuseIfShifted(known, "tag");
    try {
      await this.#options.ec2.createTags({ Resources: [id], Tags: tagList(tags) });
    } catch (error) {
      throw isAwsError(error, notFoundCode) ? missing(id) : error;
    }
    if (known === undefined) return;
    const own = tagList(tags);
    const kept = (known.Tags ?? []).filter(({ Key }) => !own.some((one) => one.Key === Key));
    this.#cache.set(id, { ...known, Tags: [...kept, ...own] });
  }

  #refuseIfShifted({ InstanceId, Placement }: Ec2Instance, verb: string): void {
    const zone = Placement?.AvailabilityZone ?? "";
    if (!this.#options.isShifted(zone)) return;
    throw new Error(`cannot ${verb} instance ${InstanceId}: the cluster is shifted away from zone ${zone}`);
  }

  /** One unknown id fails the whole call, as does an error of EC2: then each is asked for on its own. (04 §3.5) */
  async #describeAll(ids: readonly string[]): Promise<readonly BatchResult<Ec2Instance>[]> {
    const found = await this.#describe([...new Set(ids)]).catch(() => []);
    const byId = new Map(found.map((instance) => [instance.InstanceId, instance]));
    return Promise.all(
      ids.map(async (id): Promise<BatchResult<Ec2Instance>> => {
        const instance = byId.get(id);
        return instance === undefined ? this.#describeOne(id) : { kind: "done", output: instance };
      }),
    );
  }

  async #describeOne(id: string): Promise<BatchResult<Ec2Instance>> {
    try {
      const [instance] = await this.#describe([id]);
      return instance === undefined ? { kind: "failed", error: missing(id) } : { kind: "done", output: instance };
    } catch (error) {
      return { kind: "failed", error: isAwsError(error, notFoundCode) ? missing(id) : error };
    }
  }

  #describe(ids: readonly string[]): Promise<Ec2Instance[]> {
    return this.#options.ec2.describeInstances({ InstanceIds: [...ids], Filters: [stateFilter] });
  }

  /** What EC2 does not say is going is terminated on its own. (04 §3.5) */
  async #terminateAll(ids: readonly string[]): Promise<readonly BatchResult<undefined>[]> {
    const changes = await this.#options.ec2.terminateInstances({ InstanceIds: [...new Set(ids)] }).catch(() => []);
    const going = new Set(
      changes
        .filter(({ CurrentState }) => goingStates.includes(CurrentState?.Name ?? ""))
        .map(({ InstanceId }) => InstanceId),
    );
    return Promise.all(
      ids.map(async (id): Promise<BatchResult<undefined>> => {
        if (going.has(id)) return { kind: "done", output: undefined };
        try {
          await this.#options.ec2.terminateInstances({ InstanceIds: [id] });
          return { kind: "done", output: undefined };
        } catch (error) {
          return { kind: "failed", error: isAwsError(error, notFoundCode) ? missing(id) : error };
        }
      }),
    );
  }
}

function missing(id: string): CloudError {
  return new CloudError("not-found", `instance ${id} does not exist`);
}
