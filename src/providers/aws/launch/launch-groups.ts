import { awsLabels, resources } from "../../../api/labels.ts";
import { type ReservedMap, reservedMaps, stringMapAt } from "../../../api/validation/kubelet.ts";
import type { KubeletConfiguration } from "../../../api/validation/kubelet-decode.ts";
import { kubeletExpressionsOf } from "../../../api/validation/kubelet-expressions.ts";
import { type InstanceType, offeringCapacityType, offeringReservationId } from "../../../core/instance-type.ts";
import { amountOf } from "../../../core/resources.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";

/** The reservation a group of instance types is launched in. */
interface LaunchReservation {
  readonly id: string;
  readonly isCapacityBlock: boolean;
  readonly isInterruptible: boolean;
}

/** Instance types that boot with the same kubelet configuration. */
export interface LaunchGroup {
  readonly instanceTypes: readonly InstanceType[];
  /** Resolved for these types. */
  readonly kubelet: KubeletConfiguration;
  /** EFA interfaces, if the pods need any. */
  readonly efaCount: number;
  readonly reservation: LaunchReservation | undefined;
}

export interface LaunchGroupOptions {
  readonly kubelet: KubeletConfiguration | undefined;
  /** The default of clusterDNS. */
  readonly dnsIp: string | undefined;
  readonly usesEfa: boolean;
  readonly isReserved: boolean;
}

/** Groups in the order of their first type. Types without an available reservation are left out of reserved launches. (04 §3.4) */
export function launchGroups(types: readonly InstanceType[], options: LaunchGroupOptions): readonly LaunchGroup[] {
  const groups = new Map<string, LaunchGroup & { readonly instanceTypes: InstanceType[] }>();
  for (const type of types) {
    for (const reservation of options.isReserved ? reservationsOf(type) : [undefined]) {
      const shared = {
        kubelet: kubeletFor(type, options),
        efaCount: options.usesEfa ? amountOf(type.capacity, resources.efa).toNumber() : 0,
        reservation,
      };
      const key = canonicalJson(shared);
      const group = groups.get(key) ?? { ...shared, instanceTypes: [] };
      group.instanceTypes.push(type);
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}

function reservationsOf({ offerings }: InstanceType): readonly LaunchReservation[] {
  const found = new Map<string, LaunchReservation>();
  for (const offering of offerings) {
    const id = offeringReservationId(offering);
    if (!offering.available || offeringCapacityType(offering) !== "reserved" || id === undefined) continue;
    const { requirements } = offering;
    found.set(id, {
      id,
      isCapacityBlock: requirements.get(awsLabels.capacityReservationType).singleValue === "capacity-block",
      isInterruptible: requirements.get(awsLabels.capacityReservationInterruptible).singleValue === "true",
    });
  }
  return [...found.values()];
}

/** The class's kubelet block with what is decided per type. (04 §1.9, §1.10) */
function kubeletFor(type: InstanceType, { kubelet = {}, dnsIp }: LaunchGroupOptions): KubeletConfiguration {
  const { clusterDNS } = kubelet;
  const hasDns = Array.isArray(clusterDNS) && clusterDNS.length > 0;
  return {
    ...kubelet,
    maxPods: amountOf(type.capacity, resources.pods).toNumber(),
    ...(!hasDns && dnsIp !== undefined && { clusterDNS: [dnsIp] }),
    ...evaluatedReservations(type, kubelet),
  };
}

/** Values of expressions are those the type was built with. */
function evaluatedReservations({ overhead }: InstanceType, kubelet: KubeletConfiguration): KubeletConfiguration {
  const expressions = kubeletExpressionsOf(kubelet);
  const maps = reservedMaps.filter((map) => expressions.some(({ field }) => field === map));
  return Object.fromEntries(maps.map((map) => [map, evaluated(map)]));

  function evaluated(map: ReservedMap): Readonly<Record<string, string>> {
    const entries = Object.entries(stringMapAt(kubelet, map)).flatMap(([resource, text]) => {
      const isExpression = expressions.some((one) => one.field === map && one.resource === resource);
      const amount = isExpression ? overhead[map][resource]?.canonical() : text;
      return amount === undefined ? [] : [[resource, amount]];
    });
    return Object.fromEntries(entries);
  }
}
