import type { AmiFamily } from "../../api/vocabulary.ts";

/** What an image family means for the size of a node. (04 §1.8) */
export interface AmiFamilyTraits {
  /** The device that holds the kubelet's data, and its default size. */
  readonly ephemeralDevice?: string;
  readonly ephemeralSize?: string;
  /** A volume of the image's own, apart from that of the kubelet. */
  readonly systemVolume?: { readonly deviceName: string; readonly size: string };
  /** Whether pods are limited by the addresses of network interfaces. */
  readonly hasEniLimitedPods: boolean;
  /** Whether memory is reserved for as many pods as interfaces allow, even if fewer may run. */
  readonly reservesForEniLimitedPods: boolean;
  readonly honoursPodsPerCore: boolean;
  readonly windowsBuild?: string;
}

const linux = { hasEniLimitedPods: true, reservesForEniLimitedPods: true, honoursPodsPerCore: true } as const;
const amazonLinux: AmiFamilyTraits = { ...linux, ephemeralDevice: "/dev/xvda", ephemeralSize: "20Gi" };

function windows(windowsBuild: string): AmiFamilyTraits {
  return {
    ephemeralDevice: "/dev/sda1",
    ephemeralSize: "50Gi",
    hasEniLimitedPods: false,
    reservesForEniLimitedPods: false,
    honoursPodsPerCore: true,
    windowsBuild,
  };
}

export const amiFamilyTraits: Readonly<Record<AmiFamily, AmiFamilyTraits>> = {
  AL2: amazonLinux,
  AL2023: amazonLinux,
  Bottlerocket: {
    ephemeralDevice: "/dev/xvdb",
    ephemeralSize: "20Gi",
    systemVolume: { deviceName: "/dev/xvda", size: "4Gi" },
    hasEniLimitedPods: true,
    reservesForEniLimitedPods: false,
    honoursPodsPerCore: false,
  },
  Custom: linux,
  Windows2019: windows("10.0.17763"),
  Windows2022: windows("10.0.20348"),
  Windows2025: windows("10.0.26100"),
};
