import type { InstanceTypeInfo, InstanceTypeOffering } from "@aws-sdk/client-ec2";
import { type EmbeddedInstanceTypeInfo, ec2InstanceTypeInfos } from "../../src/providers/aws/instance-type-info.ts";
import { findRegion } from "../../src/providers/aws/regions.ts";

/** The embedded types as DescribeInstanceTypes would describe them. */
export function describedInstanceTypes(wanted?: (name: string) => boolean): InstanceTypeInfo[] {
  return ec2InstanceTypeInfos()
    .filter(({ name, isRetired }) => !isRetired && (wanted?.(name) ?? true))
    .map(describedType);
}

/** Which zones of the region the embedded types are offered in. */
export function describedOfferings(regionName: string, wanted?: (name: string) => boolean): InstanceTypeOffering[] {
  const found = findRegion(regionName);
  if ("problem" in found) throw new Error(found.problem.message);
  const { zones, column } = found.region;
  return ec2InstanceTypeInfos()
    .filter(({ name, isRetired }) => !isRetired && (wanted?.(name) ?? true))
    .flatMap(({ name, zoneDigits }) =>
      zones
        .filter(({ digit }) => zoneDigits[column].includes(digit))
        .map((zone) => ({
          InstanceType: name as never,
          LocationType: "availability-zone" as const,
          Location: zone.name,
        })),
    );
}

function describedType(info: EmbeddedInstanceTypeInfo): InstanceTypeInfo {
  return {
    InstanceType: info.name as never,
    BareMetal: info.isMetal,
    ...(!info.isMetal && { Hypervisor: info.hypervisor as never }),
    SupportedUsageClasses: ["on-demand", "spot"],
    ProcessorInfo: {
      SupportedArchitectures: [info.arch === "arm64" ? "arm64" : "x86_64"],
      SustainedClockSpeedInGhz: (info.clockMhz ?? 0) / 1000,
      Manufacturer: manufacturers[info.cpuManufacturer ?? ""] ?? info.cpuManufacturer,
    },
    VCpuInfo: { DefaultVCpus: info.vcpu },
    MemoryInfo: { SizeInMiB: info.memoryMiB },
    EbsInfo: {
      EbsOptimizedSupport: info.ebsMbps > 0 ? "default" : "unsupported",
      EbsOptimizedInfo: { MaximumBandwidthInMbps: info.ebsMbps },
    },
    ...(info.nvmeGB > 0 && { InstanceStorageInfo: { NvmeSupport: "required", TotalSizeInGB: info.nvmeGB } }),
    NetworkInfo: {
      DefaultNetworkCardIndex: 0,
      MaximumNetworkCards: info.networkCards.length,
      NetworkCards: info.networkCards.map((_, index) => ({
        NetworkCardIndex: index,
        MaximumNetworkInterfaces: info.enis,
      })),
      Ipv4AddressesPerInterface: info.ipv4PerEni,
      EnaSupport: "required",
      EncryptionInTransitSupported: info.encryptsInTransit,
      ...(info.efas > 0 && { EfaSupported: true, EfaInfo: { MaximumEfaInterfaces: info.efas } }),
    },
    ...(info.gpus.length > 0 && {
      GpuInfo: {
        Gpus: info.gpus.map(({ name, manufacturer, count, memoryMiB }) => ({
          Name: name.toUpperCase(),
          Manufacturer: manufacturers[manufacturer] ?? manufacturer,
          Count: count,
          MemoryInfo: { SizeInMiB: memoryMiB },
        })),
      },
    }),
    ...(info.neuronDevices.length > 0 && {
      NeuronInfo: {
        NeuronDevices: info.neuronDevices.map(({ name, count, coresPerDevice }) => ({
          Name: name,
          Count: count,
          CoreInfo: { Count: coresPerDevice },
        })),
      },
    }),
    ...(info.inferenceAccelerators.length > 0 && {
      InferenceAcceleratorInfo: {
        Accelerators: info.inferenceAccelerators.map(({ name, manufacturer, count }) => ({
          Name: name,
          Manufacturer: manufacturers[manufacturer] ?? manufacturer,
          Count: count,
        })),
      },
    }),
    PlacementGroupInfo: { SupportedStrategies: ["cluster", "partition", "spread"] },
    NitroEnclavesSupport: "supported",
  };
}

const manufacturers: Readonly<Record<string, string>> = {
  intel: "Intel",
  amd: "AMD",
  aws: "AWS",
  nvidia: "NVIDIA",
  habana: "Habana",
};
