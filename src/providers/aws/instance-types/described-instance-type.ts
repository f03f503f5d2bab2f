import type { InstanceTypeInfo } from "@aws-sdk/client-ec2";
import type { AcceleratorInfo, Ec2InstanceTypeInfo, EmbeddedInstanceTypeInfo } from "../instance-type-info.ts";

const architectures: Readonly<Record<string, string>> = { x86_64: "amd64", arm64: "arm64" };

/**
 * A type as EC2 describes it. What EC2 does not say (network bandwidth, branch interfaces, a price to start with) comes
 * from the embedded catalogue. Undefined for architectures no node has. (04 §2.1, §2.2)
 */
export function describedInstanceTypeInfo(
  described: InstanceTypeInfo,
  embedded: EmbeddedInstanceTypeInfo | undefined,
): Ec2InstanceTypeInfo | undefined {
  const name = described.InstanceType ?? "";
  const arch = archOf(described);
  const [familyName, size] = name.split(".");
  if (arch === undefined || familyName === undefined || size === undefined) return undefined;
  return {
    name,
    familyName,
    size,
    isMetal: described.BareMetal ?? size.includes("metal"),
    arch,
    hypervisor: described.Hypervisor ?? "",
    nitroSandbox: described.NitroEnclavesSupport === "supported",
    vcpu: described.VCpuInfo?.DefaultVCpus ?? 0,
    memoryMiB: described.MemoryInfo?.SizeInMiB ?? 0,
    usdPerHour: embedded?.usdPerHour,
    spotFractions: embedded?.spotFractions,
    branchEnis: embedded?.branchEnis ?? 0,
    networkMbps: embedded?.networkMbps ?? 0,
    ...processorOf(described),
    ...networkOf(described),
    ...storageOf(described),
    ...devicesOf(described),
    usageClasses: usageClassesOf(described),
    placementStrategies: described.PlacementGroupInfo?.SupportedStrategies ?? [],
  };
}

/** The first that a node can have. */
function archOf({ ProcessorInfo }: InstanceTypeInfo): string | undefined {
  const supported = ProcessorInfo?.SupportedArchitectures ?? [];
  return supported.map((one) => architectures[one]).find((arch) => arch !== undefined);
}

function processorOf({ ProcessorInfo }: InstanceTypeInfo) {
  const { Manufacturer, SustainedClockSpeedInGhz: ghz, SupportedFeatures = [] } = ProcessorInfo ?? {};
  const features: readonly string[] = SupportedFeatures;
  return {
    cpuManufacturer: Manufacturer === undefined ? undefined : kebab(Manufacturer),
    clockMhz: ghz === undefined ? undefined : Math.round(ghz * 1_000),
    supportsNestedVirtualization: features.includes("nested-virtualization"),
  };
}

/** Pods use the interfaces of the default card alone. (04 §2.3) */
function networkOf({ NetworkInfo }: InstanceTypeInfo) {
  const { NetworkCards = [], DefaultNetworkCardIndex = 0, EfaInfo, EnaSupport } = NetworkInfo ?? {};
  const interfacesOf = (index: number): number | undefined =>
    NetworkCards.find(({ NetworkCardIndex = 0 }) => NetworkCardIndex === index)?.MaximumNetworkInterfaces;
  return {
    enis: interfacesOf(DefaultNetworkCardIndex) ?? NetworkInfo?.MaximumNetworkInterfaces ?? 0,
    ipv4PerEni: NetworkInfo?.Ipv4AddressesPerInterface ?? 0,
    networkCards: Array.from({ length: Math.max(1, NetworkCards.length) }, (_, index) => interfacesOf(index)),
    supportsEna: EnaSupport === "supported" || EnaSupport === "required",
    encryptsInTransit: NetworkInfo?.EncryptionInTransitSupported ?? false,
    efas: EfaInfo?.MaximumEfaInterfaces ?? 0,
  };
}

function storageOf({ EbsInfo, InstanceStorageInfo }: InstanceTypeInfo) {
  const totalGB = InstanceStorageInfo?.TotalSizeInGB ?? 0;
  const isOptimized = EbsInfo?.EbsOptimizedSupport === "default";
  return {
    ebsMbps: isOptimized ? (EbsInfo?.EbsOptimizedInfo?.MaximumBandwidthInMbps ?? 0) : 0,
    nvmeGB: (InstanceStorageInfo?.NvmeSupport ?? "unsupported") === "unsupported" ? 0 : totalGB,
    instanceStoreGB: totalGB,
  };
}

function devicesOf({ GpuInfo, NeuronInfo, InferenceAcceleratorInfo }: InstanceTypeInfo) {
  return {
    gpus: (GpuInfo?.Gpus ?? []).map((gpu) => ({
      ...acceleratorOf(gpu),
      memoryMiB: gpu.MemoryInfo?.SizeInMiB ?? 0,
    })),
    neuronDevices: (NeuronInfo?.NeuronDevices ?? []).map((device) => ({
      ...acceleratorOf({ ...device, Manufacturer: "aws" }), // EC2 does not name it
      coresPerDevice: device.CoreInfo?.Count ?? 0,
    })),
    inferenceAccelerators: (InferenceAcceleratorInfo?.Accelerators ?? []).map(acceleratorOf),
  };
}

function acceleratorOf({
  Name = "",
  Manufacturer = "",
  Count = 0,
}: {
  readonly Name?: string | undefined;
  readonly Manufacturer?: string | undefined;
  readonly Count?: number | undefined;
}): AcceleratorInfo {
  return { name: kebab(Name), manufacturer: kebab(Manufacturer), count: Count };
}

function usageClassesOf({ SupportedUsageClasses = [] }: InstanceTypeInfo): readonly ("on-demand" | "spot")[] {
  return (["on-demand", "spot"] as const).filter((one) => SupportedUsageClasses.includes(one));
}

function kebab(text: string): string {
  return text.toLowerCase().replaceAll(" ", "-");
}
