import type { Pod } from "../../api/kubernetes/pod.ts";
import type { Taint } from "../../api/labels.ts";
import type { RequirementConflict } from "../compatibility.ts";
import type { DeviceRefusal } from "../devices/device-refusal.ts";
import type { Requirements } from "../requirements.ts";
import type { Resources } from "../resources.ts";

/** Why a pod is not placed. Every message is a rendering of one of these codes. (docs/designs/engine.md) */
const refusalCodes = [
  "taint",
  "requirements",
  "volume-requirements",
  "volume-limit",
  "host-port",
  "resources",
  "topology",
  "instance-types",
  "min-values",
  "limits",
  "node-limit",
  "reserved-capacity",
  "dynamic-resources",
  "no-pools",
  "no-templates",
  "invalid-pod",
] as const;
export type RefusalCode = (typeof refusalCodes)[number];

/** A pod that was not placed. */
export interface Refusal {
  readonly pod: Pod;
  /** The code of the pool that came nearest. */
  readonly code: RefusalCode;
  /** Upstream's text. */
  readonly message: string;
  /** One verdict for each pool, in the order they were tried. */
  readonly pools: readonly PoolVerdict[];
}

/** Why a new node of the pool was refused. */
export interface PoolVerdict {
  readonly pool: string;
  readonly cause: RefusalCause;
}

/** One constraint that refused a pod, with its figures. */
export type RefusalCause =
  | { readonly code: "taint"; readonly taint: Taint }
  | { readonly code: "requirements" | "volume-requirements"; readonly conflicts: readonly RequirementConflict[] }
  | { readonly code: "volume-limit"; readonly driver: string; readonly limit: number; readonly wanted: number }
  | { readonly code: "host-port"; readonly port: number; readonly protocol: string; readonly ip: string }
  | { readonly code: "resources"; readonly asked: Resources; readonly available: Resources }
  | TopologyCause
  | InstanceTypesCause
  | { readonly code: "min-values"; readonly achieved: ReadonlyMap<string, number>; readonly requirements: Requirements }
  | { readonly code: "limits" | "node-limit"; readonly pool: string }
  | { readonly code: "reserved-capacity"; readonly lost: boolean }
  | { readonly code: "dynamic-resources"; readonly devices: DeviceRefusal };

/** No domain satisfies the constraint. (02:N-3c) */
export interface TopologyCause {
  readonly code: "topology";
  readonly kind: "spread" | "affinity" | "anti-affinity";
  readonly key: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly podDomains: string;
  readonly nodeDomains: string;
}

/** No instance type is left. Each flag says whether some type satisfied it. (02:F-3) */
export interface InstanceTypesCause {
  readonly code: "instance-types";
  readonly matches: boolean;
  readonly fits: boolean;
  readonly offered: boolean;
  readonly matchesAndFits: boolean;
  readonly matchesAndOffered: boolean;
  readonly fitsAndOffered: boolean;
  readonly requirements: Requirements;
  /** The pod with the smallest and with the largest daemon overhead. (02:F-3) */
  readonly resources: { readonly least: Resources; readonly most: Resources };
  /** The most any type has of each resource. */
  readonly largest: Resources;
}
