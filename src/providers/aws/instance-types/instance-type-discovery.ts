import { createHash } from "node:crypto";
import { canonicalJson } from "../../../util/canonical-json.ts";
import { errorMessage } from "../../../util/error-text.ts";
import type { Logger } from "../../../util/logger.ts";
import type { AwsApi, CallOptions } from "../api/aws-api.ts";
import {
  type Ec2InstanceTypeInfo,
  type EmbeddedInstanceTypeInfo,
  ec2InstanceTypeInfos,
} from "../instance-type-info.ts";
import { findRegion, type Zone } from "../regions.ts";
import { describedInstanceTypeInfo } from "./described-instance-type.ts";

/** What is known about the types of a region. */
export interface KnownInstanceTypes {
  readonly typeInfos: readonly Ec2InstanceTypeInfo[];
  /** Names of all zones some type is offered in. */
  readonly zoneNames: readonly string[];
  readonly isOffered: (typeInfo: Pick<Ec2InstanceTypeInfo, "name">, zone: Zone) => boolean;
}

export interface InstanceTypeDiscoveryOptions {
  readonly aws: Pick<AwsApi, "region" | "ec2">;
  readonly log: Logger;
}

const typeFilters = [
  { Name: "supported-virtualization-type", Values: ["hvm"] },
  { Name: "processor-info.supported-architecture", Values: ["x86_64", "arm64"] },
];

/** Which instance types the region has, and in which zones. (04 §2.1) */
export class InstanceTypeDiscovery {
  readonly #options: InstanceTypeDiscoveryOptions;
  #known: KnownInstanceTypes | undefined;
  #fingerprint = "";
  #revision = 0;

  constructor(options: InstanceTypeDiscoveryOptions) {
    this.#options = options;
  }

  /** Undefined until types were found. */
  get known(): KnownInstanceTypes | undefined {
    return this.#known;
  }

  /** Changes with what is known. */
  get revision(): number {
    return this.#revision;
  }

  /** Asks EC2. What was known is kept if it fails or answers with nothing. */
  async refresh(options: CallOptions = {}): Promise<void> {
    const { ec2 } = this.#options.aws;
    const [described, offerings] = await Promise.all([
      ec2.describeInstanceTypes({ Filters: typeFilters }, options),
      ec2.describeInstanceTypeOfferings({ LocationType: "availability-zone" }, options),
    ]);
    if (described.length === 0) throw new Error("EC2 describes no instance types");
    if (offerings.length === 0) throw new Error("EC2 offers no instance types in any zone");
    const fingerprint = [fingerprintOf(described), fingerprintOf(offerings)].join("/");
    if (fingerprint === this.#fingerprint) return;
    this.#fingerprint = fingerprint;
    const embedded = new Map(ec2InstanceTypeInfos().map((one) => [one.name, one]));
    const zonesByType = new Map<string, Set<string>>();
    for (const { InstanceType = "", Location = "" } of offerings) {
      const zones = zonesByType.get(InstanceType) ?? new Set();
      zonesByType.set(InstanceType, zones.add(Location));
    }
    this.#set({
      typeInfos: described
        .flatMap((one) => describedInstanceTypeInfo(one, embedded.get(one.InstanceType ?? "")) ?? [])
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
      zoneNames: [...new Set(offerings.map(({ Location = "" }) => Location))].sort(),
      isOffered: ({ name }, zone) => zonesByType.get(name)?.has(zone.name) ?? false,
    });
  }

  /** The first look: where EC2 does not answer, the embedded catalogue serves the regions it knows. */
  async start(options: CallOptions = {}): Promise<void> {
    const { aws, log } = this.#options;
    try {
      await this.refresh(options);
    } catch (error) {
      options.signal?.throwIfAborted();
      const embedded = embeddedInstanceTypes(aws.region);
      if (embedded === undefined) throw new Error("cannot discover instance types", { cause: error });
      log.error("cannot discover instance types: using the embedded catalogue until EC2 answers", {
        error: errorMessage(error),
      });
      this.#set(embedded);
    }
  }

  #set(known: KnownInstanceTypes): void {
    this.#known = known;
    this.#revision++;
  }
}

/**
 * Equal answers must not rebuild anything, in whatever order they come. Rows are hashed one by one: as one text they would
 * take tens of megabytes at every start.
 */
function fingerprintOf(rows: readonly object[]): string {
  const digest = (text: string): string => createHash("sha256").update(text).digest("base64");
  return digest(
    rows
      .map((row) => digest(canonicalJson(row)))
      .sort()
      .join(),
  );
}

/** Letters of zones differ between accounts, ids do not: embedded types are offered by the id of a subnet's zone. */
function embeddedInstanceTypes(regionName: string): KnownInstanceTypes | undefined {
  const found = findRegion(regionName);
  if ("problem" in found) return undefined;
  const { column, zones } = found.region;
  const current = ec2InstanceTypeInfos().filter(({ isRetired }) => !isRetired);
  const byName = new Map<string, EmbeddedInstanceTypeInfo>(current.map((one) => [one.name, one]));
  return {
    typeInfos: [...current].sort((a, b) => (a.name < b.name ? -1 : 1)),
    zoneNames: zones.map(({ name }) => name),
    isOffered: ({ name }, zone) => byName.get(name)?.zoneDigits[column].includes(zone.id?.at(-1) ?? "none") ?? false,
  };
}
