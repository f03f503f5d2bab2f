import type { DryRun, DryRunReason } from "../../../api/conditions/ec2-node-class.ts";
import type { NodeClaim } from "../../../api/kinds/node-claim.ts";
import type { NodePool } from "../../../api/kinds/node-pool.ts";
import { groups } from "../../../api/labels.ts";
import { resolvedAmiFamily } from "../../../api/validation/ami-family.ts";
import type { InstanceType } from "../../../core/instance-type.ts";
import { amiFamilyTraits } from "../ami-families.ts";
import type { Ec2Api } from "../api/aws-api.ts";
import { AwsError, isAwsError } from "../api/aws-error.ts";
import { awsErrorAdvice, isTransient, isUnauthorized } from "../api/aws-error-advice.ts";
import { launchTags, type Tags, tagList } from "../launch/launch-tags.ts";
import { type LaunchTemplateSpec, maxUserDataBytes } from "../launch/launch-template-spec.ts";
import { type LaunchTarget, launchTemplateSpecs } from "../launch/launch-template-specs.ts";
import type { Ec2NodeClassObject } from "./node-class-object.ts";
import { validationLaunch } from "./validation-instance-type.ts";

/** Makes launch templates, and deletes those of a class. */
export interface LaunchTemplateStore {
  /** The names of templates with this content. */
  ensure(specs: readonly LaunchTemplateSpec[], tags: Tags): Promise<readonly string[]>;
  deleteOf(nodeClassName: string): Promise<void>;
}

export interface DryRunOptions {
  readonly ec2: Ec2Api;
  readonly launchTemplates: Pick<LaunchTemplateStore, "ensure">;
  readonly instanceTypes: (nodeClass: Ec2NodeClassObject) => Promise<readonly InstanceType[]>;
  readonly target: () => LaunchTarget;
  readonly usesReservations: boolean;
}

/** `retry`: AWS is busy, or does not know a profile yet that was just made. */
export type DryRunOutcome = DryRun | { readonly kind: "retry"; readonly because: unknown };

/** Tries, without launching anything, whether AWS lets us launch from the class. (04 §1.12) */
export async function dryRunLaunch(
  nodeClass: Ec2NodeClassObject,
  pools: readonly NodePool[],
  options: DryRunOptions,
): Promise<DryRunOutcome> {
  const attempt = await prepared(nodeClass, pools, options);
  const launch = new DryRunLaunch(nodeClass, attempt, options);
  const template = await launch.createTemplate();
  if (template.kind !== "created") return template;
  const fleet = await launch.createFleet(template.name);
  return fleet.kind === "passed" ? launch.runInstances(template.name) : fleet;
}

interface PreparedLaunch {
  readonly spec: LaunchTemplateSpec;
  readonly tags: Tags;
  readonly typeName: string;
}

async function prepared(
  nodeClass: Ec2NodeClassObject,
  pools: readonly NodePool[],
  { instanceTypes, target, usesReservations }: DryRunOptions,
): Promise<PreparedLaunch> {
  const { spec, status, metadata } = nodeClass;
  const family = spec === undefined ? "AL2" : resolvedAmiFamily(spec);
  const launch = validationLaunch({
    types: await instanceTypes(nodeClass),
    amis: status?.amis ?? [],
    pools,
    isWindows: amiFamilyTraits[family].windowsBuild !== undefined,
  });
  if (launch === undefined) throw new Error("no instance type can boot the images of the class");
  const { cluster } = target();
  const tags = launchTags({
    clusterName: cluster.name,
    nodeClassName: metadata.name ?? "",
    nodePoolName: "",
    specTags: spec?.tags,
  });
  const request = {
    nodeClass,
    claim: validationClaim(metadata.name ?? ""),
    instanceTypes: [launch.type],
    capacityType: "on-demand",
    tenancy: launch.tenancy,
    tags,
    usesReservations,
  } as const;
  const [template] = launchTemplateSpecs(request, target());
  if (template === undefined) throw new Error("no instance type can boot the images of the class");
  return { spec: template, tags, typeName: launch.type.name };
}

/** A claim without a pool. */
function validationClaim(nodeClassName: string): Pick<NodeClaim, "metadata" | "spec"> {
  const nodeClassRef = { group: groups.aws, kind: "EC2NodeClass", name: nodeClassName };
  return { metadata: {}, spec: { requirements: [], nodeClassRef, expireAfter: "Never" } };
}

/** The three calls of a launch. */
class DryRunLaunch {
  readonly #nodeClass: Ec2NodeClassObject;
  readonly #launch: PreparedLaunch;
  readonly #options: DryRunOptions;

  constructor(nodeClass: Ec2NodeClassObject, launch: PreparedLaunch, options: DryRunOptions) {
    this.#nodeClass = nodeClass;
    this.#launch = launch;
    this.#options = options;
  }

  /** There is no dry run that checks the content, so a real template is made. It is deleted when it is not used. */
  async createTemplate(): Promise<DryRunOutcome | { readonly kind: "created"; readonly name: string }> {
    const { spec, tags } = this.#launch;
    try {
      const [name = ""] = await this.#options.launchTemplates.ensure([spec], tags);
      return { kind: "created", name };
    } catch (error) {
      if (error instanceof AwsError && /user data is limited to/i.test(error.message)) {
        const message = `user data has ${spec.userDataBytes} bytes and EC2 accepts ${maxUserDataBytes}; shorten spec.userData`;
        return { kind: "failed", reason: "UserDataSizeLimitExceeded", message };
      }
      return failedCall(error, "CreateLaunchTemplateAuthCheckFailed");
    }
  }

  async createFleet(templateName: string): Promise<DryRunOutcome> {
    const { tags, typeName } = this.#launch;
    return this.#dryRun("CreateFleetAuthCheckFailed", () =>
      this.#options.ec2.createFleet({
        DryRun: true,
        Type: "instant",
        LaunchTemplateConfigs: [
          {
            LaunchTemplateSpecification: { LaunchTemplateName: templateName, Version: "$Latest" },
            Overrides: this.#subnetIds().map((SubnetId) => ({ InstanceType: typeName as never, SubnetId })),
          },
        ],
        TargetCapacitySpecification: { DefaultTargetCapacityType: "on-demand", TotalTargetCapacity: 1 },
        OnDemandOptions: { AllocationStrategy: "lowest-price" },
        TagSpecifications: (["instance", "volume", "fleet"] as const).map((ResourceType) => ({
          ResourceType,
          Tags: tagList(tags),
        })),
      }),
    );
  }

  /** One subnet that can be used is enough; what is wrong with the first is reported. */
  async runInstances(templateName: string): Promise<DryRunOutcome> {
    let first: DryRunOutcome | undefined;
    for (const subnetId of this.#subnetIds()) {
      const outcome = await this.#runInSubnet(templateName, subnetId);
      first ??= outcome;
      const isRefused = outcome.kind === "failed" && outcome.reason === "RunInstancesAuthCheckFailed";
      if (!isRefused) return outcome;
    }
    return first ?? { kind: "passed" };
  }

  async #runInSubnet(templateName: string, SubnetId: string): Promise<DryRunOutcome> {
    const { spec, tags, typeName } = this.#launch;
    const [primary] = spec.data.NetworkInterfaces ?? [];
    try {
      return await this.#dryRun("RunInstancesAuthCheckFailed", () =>
        this.#options.ec2.runInstances({
          DryRun: true,
          MinCount: 1,
          MaxCount: 1,
          InstanceType: typeName as never,
          LaunchTemplate: { LaunchTemplateName: templateName, Version: "$Latest" },
          // A template with interfaces takes the subnet only as part of one.
          NetworkInterfaces: [{ DeviceIndex: 0, Groups: primary?.Groups, SubnetId }],
          TagSpecifications: (["instance", "volume", "network-interface"] as const).map((ResourceType) => ({
            ResourceType,
            Tags: tagList(tags),
          })),
        }),
      );
    } catch (error) {
      if (!(error instanceof AwsError) || !/iamInstanceProfile\.name is invalid/i.test(error.message)) throw error;
      const { instanceProfile } = this.#nodeClass.spec ?? {};
      // A profile we made ourselves a moment ago is not known everywhere yet.
      if (instanceProfile === undefined) return { kind: "retry", because: error };
      const message = `there is no instance profile ${instanceProfile}; create it, or name another in spec.instanceProfile`;
      return { kind: "failed", reason: "InstanceProfileNotFound", message };
    }
  }

  /** AWS answers a dry run that would have been allowed with an error, too. */
  async #dryRun(reason: DryRunReason, call: () => Promise<unknown>): Promise<DryRunOutcome> {
    try {
      await call();
      return { kind: "passed" };
    } catch (error) {
      return isAwsError(error, "DryRunOperation") ? { kind: "passed" } : failedCall(error, reason);
    }
  }

  #subnetIds(): readonly string[] {
    return (this.#nodeClass.status?.subnets ?? []).map(({ id }) => id);
  }
}

function failedCall(error: unknown, reason: DryRunReason): DryRunOutcome {
  if (isUnauthorized(error)) return { kind: "failed", reason, message: awsErrorAdvice(error) };
  if (isTransient(error)) return { kind: "retry", because: error };
  throw error;
}
