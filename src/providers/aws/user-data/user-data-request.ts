import type { Taint } from "../../../api/labels.ts";
import type { KubeletConfiguration } from "../../../api/validation/kubelet-decode.ts";
import type { ManagedKubelet } from "../../../api/validation/kubelet-managed.ts";
import type { AmiFamily } from "../../../api/vocabulary.ts";

/** What every node has to know of its cluster. (04 §1.9) */
export interface ClusterFacts {
  readonly name: string;
  readonly endpoint: string;
  /** PEM in base64. */
  readonly caBundle?: string | undefined;
  /** The address of the Service kube-dns. */
  readonly dnsIp?: string | undefined;
  /** The CIDR of Services; only AL2023 needs it. */
  readonly cidr?: string | undefined;
}

/** What a node boots with. */
export interface UserDataRequest {
  readonly amiFamily: AmiFamily;
  readonly cluster: ClusterFacts;
  /** The user's own part. */
  readonly custom?: string | undefined;
  /** With everything resolved for the instance types: no expressions, maxPods set. */
  readonly kubelet: KubeletConfiguration;
  /** Only those a kubelet may set itself. */
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly instanceStorePolicy?: "RAID0" | undefined;
  /** Whether the image mounts the usual folders by itself; Bottlerocket does so from 1.46 on. */
  readonly bindsDefaultMounts?: boolean | undefined;
}

/** Why user data cannot be written. */
export type UserDataErrorCode = "invalid-mime" | "invalid-toml" | "no-cluster-cidr" | "invalid-kubelet";

export type UserDataResult =
  | { readonly kind: "ok"; readonly text: string; readonly warnings: readonly string[] }
  | { readonly kind: "error"; readonly code: UserDataErrorCode; readonly message: string };

/** A request whose kubelet block has been read. */
export interface ParsedUserDataRequest extends UserDataRequest {
  readonly managed: ManagedKubelet;
}
