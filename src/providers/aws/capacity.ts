import { resources } from "../../api/labels.ts";
import type { Resources } from "../../core/resources.ts";
import { Quantity } from "../../util/quantity.ts";
import { amiFamilyTraits } from "./ami-families.ts";
import type { Ec2InstanceTypeInfo } from "./instance-type-info.ts";
import type { NodeSettings } from "./node-settings.ts";

const mebibyte = 2 ** 20;
const podsWithoutEniLimit = 110;
const defaultStorage = "20Gi";

const gpuResources: Readonly<Record<string, string>> = {
  nvidia: resources.nvidiaGpu,
  amd: resources.amdGpu,
  habana: resources.gaudi,
};

/** The capacity of a node of this type; resources it has none of are left out. (04 §2.3) */
export function ec2Capacity(typeInfo: Ec2InstanceTypeInfo, settings: NodeSettings): Resources {
  return {
    [resources.cpu]: Quantity.of(typeInfo.vcpu),
    [resources.memory]: Quantity.of(memoryMiB(typeInfo, settings) * mebibyte, "BinarySI"),
    [resources.ephemeralStorage]: ephemeralStorage(typeInfo, settings),
    [resources.pods]: Quantity.of(ec2PodCapacity(typeInfo, settings)),
    ...devices(typeInfo, settings),
  };
}

/** Arm types lose 64 MiB first. The order of operations decides the last bit. (04 §2.3) */
function memoryMiB(
  { arch, memoryMiB: advertised }: Ec2InstanceTypeInfo,
  { vmMemoryOverheadPercent }: NodeSettings,
): number {
  const size = arch === "arm64" ? advertised - 64 : advertised;
  return size - Math.ceil((size * mebibyte * vmMemoryOverheadPercent) / 1024 / 1024);
}

/** How many pods a node takes. (04 §2.3) */
export function ec2PodCapacity(typeInfo: Ec2InstanceTypeInfo, settings: NodeSettings): number {
  const { maxPods, podsPerCore = 0 } = settings.kubelet;
  const traits = amiFamilyTraits[settings.amiFamily];
  const limit = maxPods ?? (traits.hasEniLimitedPods ? eniLimitedPods(typeInfo, settings) : podsWithoutEniLimit);
  return podsPerCore > 0 && traits.honoursPodsPerCore ? Math.min(limit, podsPerCore * typeInfo.vcpu) : limit;
}

/** Each interface keeps one address for itself; two pods use the host's network. (04 §2.3) */
export function eniLimitedPods(
  typeInfo: Ec2InstanceTypeInfo,
  { reservedEnis, networkInterfaces }: Pick<NodeSettings, "reservedEnis" | "networkInterfaces">,
): number {
  const withoutAddresses = networkInterfaces.filter(
    ({ networkCardIndex, interfaceType }) => networkCardIndex === 0 && interfaceType === "efa-only",
  );
  const enis = Math.max(0, typeInfo.enis - reservedEnis - withoutAddresses.length);
  return enis === 0 ? 0 : enis * (typeInfo.ipv4PerEni - 1) + 2;
}

/** Local disks in one array, else the volume that holds the kubelet's data. (04 §2.3) */
function ephemeralStorage(
  { instanceStoreGB }: Ec2InstanceTypeInfo,
  { amiFamily, ...settings }: NodeSettings,
): Quantity {
  if (settings.instanceStorePolicy === "RAID0" && instanceStoreGB > 0) return Quantity.parse(`${instanceStoreGB}G`);
  const traits = amiFamilyTraits[amiFamily];
  const devices = settings.blockDeviceMappings;
  const root = devices.find(({ rootVolume }) => rootVolume === true);
  const kubelet =
    amiFamily === "Custom" ? devices.at(-1) : devices.find(({ deviceName }) => deviceName === traits.ephemeralDevice);
  const size = root?.ebs?.volumeSize ?? kubelet?.ebs?.volumeSize ?? traits.ephemeralSize ?? defaultStorage;
  return Quantity.tryParse(size) ?? Quantity.parse(defaultStorage);
}

function devices(typeInfo: Ec2InstanceTypeInfo, settings: NodeSettings): Resources {
  const { gpus, neuronDevices } = typeInfo;
  const [firstNeuron] = neuronDevices;
  const counts: readonly (readonly [string, number])[] = [
    ...Object.entries(gpuResources).map(([manufacturer, name]) => {
      const own = gpus.filter((gpu) => gpu.manufacturer === manufacturer);
      return [name, sumOfCounts(own)] as const;
    }),
    [resources.neuron, sumOfCounts(neuronDevices)],
    [resources.neuronCore, firstNeuron === undefined ? 0 : firstNeuron.count * firstNeuron.coresPerDevice],
    [resources.efa, efas(typeInfo, settings)],
    [resources.podEni, typeInfo.branchEnis],
    [resources.privateIpv4, isWindows(settings) ? typeInfo.ipv4PerEni - 1 : 0],
  ];
  return Object.fromEntries(counts.flatMap(([name, count]) => (count <= 0 ? [] : [[name, Quantity.of(count)]])));
}

function sumOfCounts(devices: readonly { readonly count: number }[]): number {
  return devices.reduce((sum, { count }) => sum + count, 0);
}

/** As many as the node class configures, by default the maximum. (04 §2.3) */
function efas(typeInfo: Ec2InstanceTypeInfo, { networkInterfaces }: NodeSettings): number {
  if (networkInterfaces.length === 0) return typeInfo.efas;
  return networkInterfaces.filter(({ interfaceType }) => interfaceType === "efa-only").length;
}

function isWindows({ amiFamily }: NodeSettings): boolean {
  return amiFamilyTraits[amiFamily].windowsBuild !== undefined;
}
