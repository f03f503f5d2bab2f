import type { CompiledKubeletExpression } from "../../api/validation/kubelet-expressions.ts";
import type { AmiFamily } from "../../api/vocabulary.ts";

/** Settings of an EC2NodeClass and the controller's flags that decide capacity and overhead of nodes. */
export interface NodeSettings {
  readonly amiFamily: AmiFamily;
  readonly kubelet: KubeletSettings;
  /** Fields of the kubelet that are evaluated for each instance type; empty while the gate NodeClassCEL is off. */
  readonly kubeletExpressions: readonly CompiledKubeletExpression[];
  readonly blockDeviceMappings: readonly BlockDevice[];
  readonly instanceStorePolicy: "RAID0" | undefined;
  readonly networkInterfaces: readonly NetworkInterface[];
  readonly tracksConnections: boolean;
  readonly nestsVirtualization: boolean;
  /** The share of memory the hypervisor uses. */
  readonly vmMemoryOverheadPercent: number;
  /** Interfaces that carry no pods. */
  readonly reservedEnis: number;
}

/** The kubelet fields that affect capacity and overhead. (04 §1.10) */
export interface KubeletSettings {
  readonly maxPods?: number | undefined;
  readonly podsPerCore?: number | undefined;
  readonly kubeReserved?: Readonly<Record<string, string>> | undefined;
  readonly systemReserved?: Readonly<Record<string, string>> | undefined;
  readonly evictionHard?: Readonly<Record<string, string>> | undefined;
}

export interface BlockDevice {
  readonly deviceName?: string | undefined;
  readonly rootVolume?: boolean | undefined;
  readonly ebs?: { readonly volumeSize?: string | undefined } | undefined;
}

export interface NetworkInterface {
  readonly networkCardIndex: number;
  readonly deviceIndex: number;
  readonly interfaceType: "interface" | "efa-only";
}

export const defaultNodeSettings: NodeSettings = {
  amiFamily: "AL2023",
  kubelet: {},
  kubeletExpressions: [],
  blockDeviceMappings: [],
  instanceStorePolicy: undefined,
  networkInterfaces: [],
  tracksConnections: false,
  nestsVirtualization: false,
  vmMemoryOverheadPercent: 0.075,
  reservedEnis: 0,
};
