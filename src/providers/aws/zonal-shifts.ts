import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import { awsZoneId, labels } from "../../api/labels.ts";
import { Requirements } from "../../core/requirements.ts";
import type { AwsApi } from "./api/aws-api.ts";

/** Zones the cluster is shifted away from, as ARC said last. (04 §2.9) */
export class ZonalShifts {
  readonly #aws: Pick<AwsApi, "zonalShift">;
  readonly #clusterArn: string;
  #zoneIds: ReadonlySet<string> = new Set();

  constructor({ aws, clusterArn }: { readonly aws: Pick<AwsApi, "zonalShift">; readonly clusterArn: string }) {
    this.#aws = aws;
    this.#clusterArn = clusterArn;
  }

  get zoneIds(): ReadonlySet<string> {
    return this.#zoneIds;
  }

  /** Returns which shifts began and which ended since. */
  async refresh(): Promise<{ readonly started: readonly string[]; readonly ended: readonly string[] }> {
    const before = this.#zoneIds;
    const now = new Set(await this.#aws.zonalShift.shiftedZoneIds(this.#clusterArn));
    this.#zoneIds = now;
    return { started: [...now].filter((id) => !before.has(id)), ended: [...before].filter((id) => !now.has(id)) };
  }
}

/** Whether nodes of the pool could be in the zone. */
export function canUseZone(
  pool: NodePool,
  zone: { readonly id: string; readonly name: string | undefined },
  policy: LabelPolicy,
): boolean {
  const requirements = Requirements.fromItems(pool.spec.template.spec.requirements, policy);
  return (
    requirements.get(awsZoneId).has(zone.id) &&
    (zone.name === undefined || requirements.get(labels.zone).has(zone.name))
  );
}
