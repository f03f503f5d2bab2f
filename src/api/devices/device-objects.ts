import type { NodeSelectorTerm } from "../kubernetes/pod.ts";
import type { KubeObject } from "../object.ts";

/** A quantity as a manifest has it. */
type QuantityText = string | number;

/** The value of a device attribute: exactly one of them is set. */
export interface DeviceAttribute {
  readonly int?: number | undefined;
  readonly bool?: boolean | undefined;
  readonly string?: string | undefined;
  readonly version?: string | undefined;
}

/** Which amounts of a capacity one request may take; others are rounded up. */
export interface CapacityRequestPolicy {
  readonly default?: QuantityText | undefined;
  readonly validValues?: readonly QuantityText[] | undefined;
  readonly validRange?:
    | {
        readonly min?: QuantityText | undefined;
        readonly max?: QuantityText | undefined;
        readonly step?: QuantityText | undefined;
      }
    | undefined;
}

export interface DeviceCapacity {
  readonly value: QuantityText;
  readonly requestPolicy?: CapacityRequestPolicy | undefined;
}

/** Named amounts that devices of one pool share. */
type CounterAmounts = Readonly<Record<string, { readonly value: QuantityText }>>;

export interface CounterSet {
  readonly name: string;
  readonly counters?: CounterAmounts | undefined;
}

/** One device of a ResourceSlice. */
export interface SliceDevice {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, DeviceAttribute>> | undefined;
  readonly capacity?: Readonly<Record<string, DeviceCapacity>> | undefined;
  readonly consumesCounters?:
    | readonly { readonly counterSet: string; readonly counters?: CounterAmounts | undefined }[]
    | undefined;
  readonly allowMultipleAllocations?: boolean | undefined;
}

interface DeviceNodeSelector {
  readonly nodeSelectorTerms?: readonly NodeSelectorTerm[] | undefined;
}

/** Devices a driver has published, as far as we read them (`resource.k8s.io/v1`). */
export interface ResourceSlice extends KubeObject {
  readonly spec: {
    readonly driver: string;
    readonly pool: { readonly name: string; readonly generation: number; readonly resourceSliceCount: number };
    readonly nodeName?: string | undefined;
    readonly nodeSelector?: DeviceNodeSelector | undefined;
    readonly allNodes?: boolean | undefined;
    readonly devices?: readonly SliceDevice[] | undefined;
    readonly sharedCounters?: readonly CounterSet[] | undefined;
  };
}

/** Devices a node of an instance type is expected to publish; they are on the node itself. (02:D-3) */
export interface ResourceSliceTemplate {
  readonly driver: string;
  readonly pool: { readonly name: string };
  readonly devices?: readonly SliceDevice[] | undefined;
  readonly sharedCounters?: readonly CounterSet[] | undefined;
}

interface DeviceSelector {
  readonly cel?: { readonly expression: string } | undefined;
}

export interface DeviceClass extends KubeObject {
  readonly spec?: { readonly selectors?: readonly DeviceSelector[] | undefined } | undefined;
}

/** What one request, or one of its alternatives, asks for. */
export interface ExactDeviceRequest {
  readonly deviceClassName: string;
  readonly selectors?: readonly DeviceSelector[] | undefined;
  /** ExactCount if absent. */
  readonly allocationMode?: string | undefined;
  /** 1 if absent. */
  readonly count?: number | undefined;
  readonly capacity?: { readonly requests?: Readonly<Record<string, QuantityText>> | undefined } | undefined;
}

export interface DeviceRequest {
  readonly name: string;
  readonly exactly?: ExactDeviceRequest | undefined;
  readonly firstAvailable?: readonly (ExactDeviceRequest & { readonly name: string })[] | undefined;
}

export interface DeviceConstraint {
  readonly requests?: readonly string[] | undefined;
  readonly matchAttribute?: string | undefined;
  readonly distinctAttribute?: string | undefined;
}

export interface ResourceClaimSpec {
  readonly devices?:
    | {
        readonly requests?: readonly DeviceRequest[] | undefined;
        readonly constraints?: readonly DeviceConstraint[] | undefined;
      }
    | undefined;
}

/** Who may use the devices of a claim. */
interface ClaimConsumer {
  readonly apiGroup?: string | undefined;
  readonly resource: string;
  readonly name?: string | undefined;
  readonly uid: string;
}

/** A device that a claim has got. */
interface DeviceAllocationResult {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly consumedCapacity?: Readonly<Record<string, QuantityText>> | undefined;
}

export interface ResourceClaim extends KubeObject {
  readonly spec: ResourceClaimSpec;
  readonly status?:
    | {
        readonly allocation?:
          | {
              readonly devices?: { readonly results?: readonly DeviceAllocationResult[] | undefined } | undefined;
              readonly nodeSelector?: DeviceNodeSelector | undefined;
            }
          | undefined;
        readonly reservedFor?: readonly ClaimConsumer[] | undefined;
      }
    | undefined;
}
