import { createHash } from "node:crypto";
import { awsLabels, awsTags } from "../../../api/labels.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import type { Clock } from "../../../util/clock.ts";
import { forEachConcurrent, throwIfAny } from "../../../util/concurrent.ts";
import type { Logger } from "../../../util/logger.ts";
import { Semaphore } from "../../../util/semaphore.ts";
import type { Ec2Api } from "../api/aws-api.ts";
import { isAwsError } from "../api/aws-error.ts";
import { type Tags, tagList } from "./launch-tags.ts";
import { type LaunchTemplateSpec, maxUserDataBytes } from "./launch-template-spec.ts";

export interface LaunchTemplatesOptions {
  readonly ec2: Ec2Api;
  readonly clock: Pick<Clock, "now">;
  readonly clusterName: string;
  readonly log: Logger;
  /** Called with the bytes of user data of each template that is made. */
  readonly onCreated?: ((spec: LaunchTemplateSpec, tags: Tags) => void) | undefined;
}

/** A template unused for this long is deleted. (04 §3.4) */
const unusedMs = 60_000;
const missingCodes = ["InvalidLaunchTemplateName.NotFoundException", "InvalidLaunchTemplateId.NotFound"] as const;
const existsCode = "InvalidLaunchTemplateName.AlreadyExistsException";
const parallelDeletions = 10;
const nearLimit = 0.9;

export function isLaunchTemplateMissing(error: unknown): boolean {
  return isAwsError(error, ...missingCodes);
}

/** The launch templates of the cluster: made when needed, kept while used, deleted afterwards. (04 §3.4) */
export class LaunchTemplates {
  readonly #options: LaunchTemplatesOptions;
  /** When each was last used, by name. */
  readonly #usedAt = new Map<string, number>();
  readonly #lock = new Semaphore(1);

  constructor(options: LaunchTemplatesOptions) {
    this.#options = options;
  }

  /** The name of a template for each, made if there is none yet. */
  async ensure(specs: readonly LaunchTemplateSpec[], tags: Tags): Promise<readonly string[]> {
    const names = specs.map((spec) => launchTemplateName(spec, tags));
    for (const [index, spec] of specs.entries()) await this.#ensureOne(names[index] ?? "", spec, tags);
    return names;
  }

  /** EC2 does not know it: it is made again when next needed. */
  invalidate(names: readonly string[]): void {
    for (const name of names) this.#usedAt.delete(name);
  }

  /** Learns of templates that an earlier process made, so that they go when nobody uses them. */
  async hydrate(): Promise<void> {
    const { clock, clusterName } = this.#options;
    const filter = { Name: `tag:${awsTags.clusterName}`, Values: [clusterName] };
    for (const { LaunchTemplateName: name } of await this.#options.ec2.describeLaunchTemplates({ Filters: [filter] })) {
      if (name !== undefined && !this.#usedAt.has(name)) this.#usedAt.set(name, clock.now());
    }
  }

  /** Deletes what was not used for a while. */
  async deleteUnused(): Promise<void> {
    const { clock } = this.#options;
    const isUnused = (name: string): boolean => clock.now() - (this.#usedAt.get(name) ?? clock.now()) >= unusedMs;
    const names = [...this.#usedAt.keys()].filter(isUnused);
    const errors = await forEachConcurrent(names, {
      limit: parallelDeletions,
      run: async (name) => {
        const release = await this.#lock.acquire();
        try {
          // It may have been used while we waited.
          if (isUnused(name)) await this.#delete(name);
        } finally {
          release();
        }
      },
    });
    throwIfAny(errors, "cannot delete all unused launch templates");
  }

  /** Deletes those of a node class that is going away. (04 §1.14) */
  async deleteOf(nodeClassName: string): Promise<void> {
    const { ec2, clusterName } = this.#options;
    const found = await ec2.describeLaunchTemplates({
      Filters: [
        { Name: `tag:${awsTags.clusterName}`, Values: [clusterName] },
        { Name: `tag:${awsLabels.nodeClass}`, Values: [nodeClassName] },
      ],
    });
    for (const { LaunchTemplateName: name } of found) if (name !== undefined) await this.#delete(name);
  }

  async #ensureOne(name: string, spec: LaunchTemplateSpec, tags: Tags): Promise<void> {
    const { clock } = this.#options;
    if (this.#usedAt.has(name)) {
      this.#usedAt.set(name, clock.now());
      return;
    }
    const release = await this.#lock.acquire();
    try {
      if (!this.#usedAt.has(name) && !(await this.#exists(name))) await this.#create(name, spec, tags);
      this.#usedAt.set(name, clock.now());
    } finally {
      release();
    }
  }

  async #exists(name: string): Promise<boolean> {
    try {
      return (await this.#options.ec2.describeLaunchTemplates({ LaunchTemplateNames: [name] })).length > 0;
    } catch (error) {
      if (isLaunchTemplateMissing(error)) return false;
      throw error;
    }
  }

  async #create(name: string, spec: LaunchTemplateSpec, tags: Tags): Promise<void> {
    const { ec2, log, onCreated } = this.#options;
    try {
      await ec2.createLaunchTemplate({
        LaunchTemplateName: name,
        LaunchTemplateData: spec.data,
        TagSpecifications: [{ ResourceType: "launch-template", Tags: tagList(tags) }],
      });
      onCreated?.(spec, tags);
      this.#logUserData(spec, tags);
      log.debug("created launch template", { "launch-template": name });
    } catch (error) {
      if (!isAwsError(error, existsCode)) throw error; // the answer to an earlier call was lost
    }
  }

  /** What of the user's data is lost, and whether it is about to be too long. Never the data itself. (04 §1.9) */
  #logUserData({ userDataBytes, warnings }: LaunchTemplateSpec, tags: Tags): void {
    const { log } = this.#options;
    const about = { EC2NodeClass: tags[awsLabels.nodeClass] };
    for (const warning of warnings) log.error(warning, about);
    if (userDataBytes < maxUserDataBytes * nearLimit) return;
    log.info("user data is close to what EC2 accepts", { ...about, bytes: userDataBytes, limit: maxUserDataBytes });
  }

  async #delete(name: string): Promise<void> {
    const { ec2, log } = this.#options;
    try {
      await ec2.deleteLaunchTemplate({ LaunchTemplateName: name });
      log.debug("deleted launch template", { "launch-template": name });
    } catch (error) {
      if (!isLaunchTemplateMissing(error)) throw error;
    }
    this.#usedAt.delete(name);
  }
}

/** Everything it contains decides its name: a changed template is a new one. (04 §3.4) */
function launchTemplateName({ data }: LaunchTemplateSpec, tags: Tags): string {
  const digest = createHash("sha256")
    .update(canonicalJson([data, tags]))
    .digest();
  return `karpenter.k8s.aws/${digest.readBigUInt64BE(0)}`;
}
