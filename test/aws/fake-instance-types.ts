import type { InstanceTypeInfo, InstanceTypeOffering } from "@aws-sdk/client-ec2";
import { type Ec2InstanceTypeInfo, ec2InstanceTypeInfos } from "../../src/providers/aws/instance-type-info.ts";
import { findRegion } from "../../src/providers/aws/regions.ts";

/** The embedded types as DescribeInstanceTypes would describe them. */
export function describedInstanceTypes(wanted?: (name: string) => boolean): InstanceTypeInfo[] {
  return ec2InstanceTypeInfos()
    .filter(({ name, family }) => family.retired !== true && (wanted?.(name) ?? true))
    .map(describedType);
}

/** Which zones of the region the embedded types are offered in. */
export function describedOfferings(regionName: string, wanted?: (name: string) => boolean): InstanceTypeOffering[] {
  const known = ec2InstanceTypeInfos();
  const found = findRegion(regionName, known);
  if ("problem" in found) throw new Error(found.problem.message);
  const { zones, column } = found.region;
  return known
    .filter(({ name, family }) => family.retired !== true && (wanted?.(name) ?? true))
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

function describedType(info: Ec2InstanceTypeInfo): InstanceTypeInfo {
  const { family, accelerators } = info;
  return {
    InstanceType: info.name as never,
    BareMetal: info.isMetal,
    ...(!info.isMetal && { Hypervisor: family.hv as never }),
    SupportedUsageClasses: ["on-demand", "spot"],
    ProcessorInfo: {
      SupportedArchitectures: [family.arch === "arm64" ? "arm64" : "x86_64"],
      SustainedClockSpeedInGhz: family.mhz / 1000,
      Manufacturer: manufacturers[family.mfr] ?? family.mfr,
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
      MaximumNetworkCards: info.networkCards,
      NetworkCards: Array.from({ length: info.networkCards }, (_, index) => ({
        NetworkCardIndex: index,
        MaximumNetworkInterfaces: info.enis,
      })),
      Ipv4AddressesPerInterface: info.ipv4PerEni,
      EnaSupport: "required",
      EncryptionInTransitSupported: family.eit === true,
      ...(info.efas > 0 && { EfaSupported: true, EfaInfo: { MaximumEfaInterfaces: info.efas } }),
    },
    ...(family.gpu &&
      accelerators > 0 && {
        GpuInfo: {
          Gpus: [
            {
              Name: family.gpu.name.toUpperCase(),
              Manufacturer: manufacturers[family.gpu.mfr] ?? family.gpu.mfr,
              Count: accelerators,
              MemoryInfo: { SizeInMiB: family.gpu.memMiB },
            },
          ],
        },
      }),
    ...(family.neuron &&
      accelerators > 0 && {
        NeuronInfo: {
          NeuronDevices: [
            { Name: family.neuron.name, Count: accelerators, CoreInfo: { Count: family.neuron.coresPerDevice } },
          ],
        },
      }),
    ...(family.accel &&
      accelerators > 0 && {
        InferenceAcceleratorInfo: {
          Accelerators: [{ Name: family.accel.name, Manufacturer: family.accel.mfr, Count: accelerators }],
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
