import { resources } from "../../api/labels.ts";
import type { Overhead } from "../../core/instance-type.ts";
import { amountOf, type Resources } from "../../core/resources.ts";
import { Quantity } from "../../util/quantity.ts";
import { amiFamilyTraits } from "./ami-families.ts";
import { ec2PodCapacity, eniLimitedPods } from "./capacity.ts";
import type { Ec2InstanceTypeInfo } from "./instance-type-info.ts";
import type { NodeSettings } from "./node-settings.ts";

/** The kubelet reserves a share of each core, by bracket. (04 §2.4) */
const cpuBrackets = [
  { fromMilli: 0, toMilli: 1000, share: 0.06 },
  { fromMilli: 1000, toMilli: 2000, share: 0.01 },
  { fromMilli: 2000, toMilli: 4000, share: 0.005 },
  { fromMilli: 4000, toMilli: Number.POSITIVE_INFINITY, share: 0.0025 },
];

const evictionMemory = Quantity.parse("100Mi");
const reservedStorage = Quantity.parse("1Gi");
const mebibyte = 2 ** 20;

/** What is reserved from a node's capacity. evictionSoft is ignored, as upstream does. (04 §2.4) */
export function ec2Overhead(typeInfo: Ec2InstanceTypeInfo, settings: NodeSettings, capacity: Resources): Overhead {
  return {
    kubeReserved: { ...kubeReserved(typeInfo, settings), ...parsedResources(settings.kubelet.kubeReserved) },
    systemReserved: parsedResources(settings.kubelet.systemReserved),
    evictionThreshold: evictionThreshold(capacity, settings.kubelet.evictionHard ?? {}),
  };
}

function kubeReserved(typeInfo: Ec2InstanceTypeInfo, settings: NodeSettings): Resources {
  const { reservesForEniLimitedPods } = amiFamilyTraits[settings.amiFamily];
  // Reserved interfaces do not lower the reserved memory. (04 §2.4)
  const podCount = reservesForEniLimitedPods
    ? eniLimitedPods(typeInfo, { ...settings, reservedEnis: 0 })
    : ec2PodCapacity(typeInfo, settings);
  return {
    [resources.cpu]: Quantity.milli(reservedCpuMilli(typeInfo.vcpu * 1000)),
    [resources.memory]: Quantity.of((11 * podCount + 255) * mebibyte, "BinarySI"),
    [resources.ephemeralStorage]: reservedStorage,
  };
}

/** Each bracket is cut to whole millicores before they are added. (04 §2.4) */
function reservedCpuMilli(cpuMilli: number): number {
  let reserved = 0;
  for (const { fromMilli, toMilli, share } of cpuBrackets) {
    if (cpuMilli > fromMilli) reserved += Math.trunc((Math.min(cpuMilli, toMilli) - fromMilli) * share);
  }
  return reserved;
}

function evictionThreshold(capacity: Resources, evictionHard: Readonly<Record<string, string>>): Resources {
  const storage = amountOf(capacity, resources.ephemeralStorage);
  const memory = amountOf(capacity, resources.memory);
  return {
    [resources.memory]: threshold(memory, evictionHard["memory.available"]) ?? evictionMemory,
    [resources.ephemeralStorage]: threshold(storage, evictionHard["nodefs.available"]) ?? percentOf(storage, 10),
  };
}

/** A quantity, or a percentage of the capacity; 100% turns eviction off. (04 §2.4) */
function threshold(of: Quantity, signal: string | undefined): Quantity | undefined {
  if (signal === undefined) return undefined;
  if (!signal.endsWith("%")) return Quantity.tryParse(signal);
  const percent = Number(signal.slice(0, -1));
  if (signal === "%" || Number.isNaN(percent)) return undefined;
  return percentOf(of, percent === 100 ? 0 : percent);
}

function percentOf(quantity: Quantity, percent: number): Quantity {
  return Quantity.of(Math.ceil((quantity.toNumber() / 100) * percent), quantity.format);
}

/** Values that are no quantity are expressions or mistakes; validation reports them. (04 §1.10) */
function parsedResources(reserved: Readonly<Record<string, string>> = {}): Resources {
  return Object.fromEntries(
    Object.entries(reserved).flatMap(([name, text]) => {
      const quantity = Quantity.tryParse(text);
      return quantity === undefined ? [] : [[name, quantity]];
    }),
  );
}
