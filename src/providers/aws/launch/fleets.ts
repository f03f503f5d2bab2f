import type { CreateFleetCommandInput, CreateFleetError, CreateFleetInstance } from "@aws-sdk/client-ec2";
import { type BatchResult, RequestBatcher } from "../../../cloud/request-batcher.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import type { Clock } from "../../../util/clock.ts";
import type { Logger } from "../../../util/logger.ts";
import type { Ec2Api } from "../api/aws-api.ts";

/** What one request for an instance came to: errors may accompany an instance. */
export interface FleetAnswer {
  readonly instance: (CreateFleetInstance & { readonly instanceId: string }) | undefined;
  readonly errors: readonly CreateFleetError[];
}

export interface FleetsOptions {
  readonly ec2: Ec2Api;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observe?: ((batch: { readonly size: number; readonly waitedMs: number }) => void) | undefined;
}

/** Requests for instances: equal ones that come together are one call. (04 §3.5) */
export class Fleets {
  readonly #options: FleetsOptions;
  readonly #batcher: RequestBatcher<CreateFleetCommandInput, FleetAnswer>;

  constructor(options: FleetsOptions) {
    this.#options = options;
    this.#batcher = new RequestBatcher({
      clock: options.clock,
      idleMs: 35,
      maxMs: 1_000,
      maxItems: 1_000,
      keyOf: (input) => canonicalJson(input),
      run: (inputs) => this.#create(inputs),
      observe: options.observe,
    });
  }

  /** The request must be for one instance. */
  create(input: CreateFleetCommandInput): Promise<FleetAnswer> {
    if (input.TargetCapacitySpecification?.TotalTargetCapacity !== 1) {
      return Promise.reject(new Error("a fleet request is for one instance"));
    }
    return this.#batcher.add(input);
  }

  async #create(inputs: readonly CreateFleetCommandInput[]): Promise<readonly BatchResult<FleetAnswer>[]> {
    const { ec2, log } = this.#options;
    const [first] = inputs;
    if (first === undefined) return [];
    const { Instances = [], Errors = [] } = await ec2.createFleet({
      ...first,
      TargetCapacitySpecification: {
        DefaultTargetCapacityType: "on-demand",
        ...first.TargetCapacitySpecification,
        TotalTargetCapacity: inputs.length,
      },
    });
    const launched = Instances.flatMap((instance) =>
      (instance.InstanceIds ?? []).map((instanceId) => ({ ...instance, InstanceIds: [instanceId], instanceId })),
    );
    if (launched.length > inputs.length) {
      log.error("a fleet has more instances than were asked for", { wanted: inputs.length, launched: launched.length });
    }
    return inputs.map((_, index) => ({
      kind: "done",
      output: { instance: launched[index], errors: Errors.length > 0 || launched[index] ? Errors : tooFew(launched) },
    }));
  }
}

/** Some of the requests got an instance and EC2 does not say why the others did not. */
function tooFew(launched: readonly unknown[]): readonly CreateFleetError[] {
  if (launched.length === 0) return [];
  return [{ ErrorCode: "UnfulfillableCapacity", ErrorMessage: "the fleet has fewer instances than were asked for" }];
}
