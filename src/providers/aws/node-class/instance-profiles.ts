import type { InstanceProfile } from "@aws-sdk/client-iam";
import { textHash } from "../../../api/hash/struct-hash.ts";
import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import { awsLabels, labels } from "../../../api/labels.ts";
import type { Clock } from "../../../util/clock.ts";
import { ExpiringMap } from "../../../util/expiring-map.ts";
import { hash64 } from "../../../util/hash.ts";
import type { Random } from "../../../util/random.ts";
import type { IamApi } from "../api/aws-api.ts";
import { isAwsError } from "../api/aws-error.ts";
import { ownershipTags, tagList } from "../launch/launch-tags.ts";

export interface InstanceProfilesOptions {
  readonly iam: IamApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly region: string;
  readonly clusterName: string;
}

const minute = 60_000;
const profileMs = 15 * minute;
const missingRoleMs = minute;
const recreationMs = minute;
const protectionMs = 60 * minute;

const validName = /^[\w+=,.@-]{1,128}$/;

/** Keeps an instance profile for the role of each class. (04 §1.11) */
export class InstanceProfiles {
  readonly #options: InstanceProfilesOptions;
  /** The role of each profile, by name of the profile. */
  readonly #roles: ExpiringMap<string>;
  readonly #missingRoles: ExpiringMap<unknown>;
  /** Profiles just made, by role and class: the status that names them may not be written yet. */
  readonly #recreated: ExpiringMap<string>;
  readonly #protected: ExpiringMap<true>;

  constructor(options: InstanceProfilesOptions) {
    const { clock } = options;
    this.#options = options;
    this.#roles = new ExpiringMap(clock);
    this.#missingRoles = new ExpiringMap(clock);
    this.#recreated = new ExpiringMap(clock);
    this.#protected = new ExpiringMap(clock);
  }

  /** The profile instances of the class use. A role that changed gets a new profile: nodes may still use the old one. */
  async resolve({ metadata, spec, status }: Ec2NodeClass): Promise<string> {
    const current = status?.instanceProfile;
    if (spec?.instanceProfile !== undefined) {
      if (current !== undefined && current !== spec.instanceProfile) this.#protect(current);
      return spec.instanceProfile;
    }
    const role = roleNameOf(spec?.role ?? "");
    if (current !== undefined && (await this.#usableFor(current, role))) return current;
    const key = `${role}/${metadata.uid}`;
    const known = this.#recreated.get(key);
    if (known !== undefined) return known;
    const name = this.#newName(metadata.name ?? "");
    await this.#create({ name, role, nodeClass: { metadata, spec } });
    if (current !== undefined) this.#protect(current);
    this.#protect(name);
    this.#recreated.set(key, name, recreationMs);
    return name;
  }

  /** Whether a profile may not be collected yet: a status or a launch under way may need it. */
  isProtected(name: string): boolean {
    return this.#protected.get(name) === true;
  }

  /** All profiles of a class that is gone: those in its path, and the one old versions made. (04 §1.14) */
  async deleteAll({ metadata }: Ec2NodeClass): Promise<void> {
    const { clusterName, region } = this.#options;
    const found = await this.#below(this.pathOf(metadata.uid ?? ""));
    for (const { InstanceProfileName: name = "" } of found) await this.delete(name);
    const legacy = `${clusterName}_${textHash(`${region}${metadata.name}`)}`;
    if (validName.test(legacy)) await this.delete(legacy);
  }

  /** Takes its roles off first; a profile that does not exist is deleted already. */
  async delete(name: string): Promise<void> {
    const { iam } = this.#options;
    try {
      for (const { RoleName } of (await this.#find(name))?.Roles ?? []) {
        await iam.removeRoleFromInstanceProfile({ InstanceProfileName: name, RoleName });
      }
      await iam.deleteInstanceProfile(name);
    } catch (error) {
      if (!isAwsError(error, "NoSuchEntity")) throw error;
    }
    this.#roles.delete(name);
  }

  /** Profiles of this cluster that Karpenter made. */
  async list(): Promise<readonly InstanceProfile[]> {
    return this.#below(this.pathOf());
  }

  /** The path of the profiles of the cluster, or of one class. */
  pathOf(nodeClassUid?: string): string {
    const { region, clusterName } = this.#options;
    return `/karpenter/${region}/${clusterName}/${nodeClassUid === undefined ? "" : `${nodeClassUid}/`}`;
  }

  /** A profile of ours that lost its role gets it back; one with another role is left to the nodes that use it. */
  async #usableFor(name: string, role: string): Promise<boolean> {
    const known = this.#roles.get(name);
    if (known !== undefined) return known === role;
    const profile = await this.#find(name);
    if (profile === undefined) return false;
    const attached = profile.Roles?.[0]?.RoleName;
    const isOurs = profile.Path?.startsWith(this.pathOf()) ?? false;
    if (attached === undefined && !isOurs) return false;
    if (attached === undefined) await this.#addRole(name, role);
    this.#roles.set(name, attached ?? role, profileMs);
    return (attached ?? role) === role;
  }

  /** Whatever is listed may be deleted: an answer that ignores the path must not cost anyone a profile of their own. */
  async #below(path: string): Promise<readonly InstanceProfile[]> {
    const found = await this.#options.iam.listInstanceProfiles({ PathPrefix: path });
    return found.filter(({ Path = "" }) => Path.startsWith(path));
  }

  async #find(name: string): Promise<InstanceProfile | undefined> {
    try {
      return await this.#options.iam.getInstanceProfile(name);
    } catch (error) {
      if (isAwsError(error, "NoSuchEntity")) return undefined;
      throw error;
    }
  }

  async #create({ name, role, nodeClass }: NewProfile): Promise<void> {
    const missing = this.#missingRoles.get(role);
    if (missing !== undefined) throw missing;
    const { iam } = this.#options;
    await iam.createInstanceProfile({
      InstanceProfileName: name,
      Path: this.pathOf(nodeClass.metadata.uid ?? ""),
      Tags: this.#tagsOf(nodeClass).map(({ Key = "", Value = "" }) => ({ Key, Value })),
    });
    try {
      await this.#addRole(name, role);
    } catch (error) {
      await iam.deleteInstanceProfile(name).catch(() => {}); // what is left is collected later; the first error matters
      throw error;
    }
    this.#roles.set(name, role, profileMs);
  }

  async #addRole(name: string, role: string): Promise<void> {
    try {
      await this.#options.iam.addRoleToInstanceProfile({ InstanceProfileName: name, RoleName: role });
    } catch (error) {
      if (isAwsError(error, "NoSuchEntity") && /\brole\b/i.test(error.message)) {
        this.#missingRoles.set(role, error, missingRoleMs);
      }
      throw error;
    }
  }

  #tagsOf({ metadata, spec }: Pick<Ec2NodeClass, "metadata" | "spec">) {
    const { clusterName, region } = this.#options;
    return tagList({
      ...spec?.tags,
      ...ownershipTags(clusterName),
      [awsLabels.nodeClass]: metadata.name ?? "",
      [labels.region]: region,
    });
  }

  #newName(nodeClassName: string): string {
    const { clusterName, region, random } = this.#options;
    return `${clusterName}_${hash64(`${region}${nodeClassName}${random.uuid()}`)}`;
  }

  #protect(name: string): void {
    this.#protected.set(name, true, protectionMs);
  }
}

interface NewProfile {
  readonly name: string;
  readonly role: string;
  readonly nodeClass: Pick<Ec2NodeClass, "metadata" | "spec">;
}

/** IAM knows a role by the last segment of its path. */
function roleNameOf(role: string): string {
  return role.slice(role.lastIndexOf("/") + 1);
}
