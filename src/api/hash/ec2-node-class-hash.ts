import { canonicalJson } from "../../util/canonical-json.ts";
import { Quantity } from "../../util/quantity.ts";
import { type AmiSelection, resolvedAmiFamily } from "../validation/ami-family.ts";
import {
  type FieldHash,
  integerHash,
  mapHash,
  optionalHash,
  plainTextHash,
  setHash,
  structHash,
  textHash,
} from "./struct-hash.ts";

interface HashedVolume {
  readonly deleteOnTermination?: boolean | undefined;
  readonly encrypted?: boolean | undefined;
  readonly iops?: number | undefined;
  readonly kmsKeyID?: string | undefined;
  readonly snapshotID?: string | undefined;
  readonly throughput?: number | undefined;
  readonly volumeInitializationRate?: number | undefined;
  readonly volumeSize?: string | undefined;
  readonly volumeType?: string | undefined;
}

interface HashedDevice {
  readonly deviceName?: string | undefined;
  readonly rootVolume?: boolean | undefined;
  readonly ebs?: HashedVolume | undefined;
}

interface HashedInterface {
  readonly networkCardIndex?: number | undefined;
  readonly deviceIndex?: number | undefined;
  readonly interfaceType?: string | undefined;
}

interface HashedMetadataOptions {
  readonly httpEndpoint?: string | undefined;
  readonly httpProtocolIPv6?: string | undefined;
  readonly httpPutResponseHopLimit?: number | undefined;
  readonly httpTokens?: string | undefined;
}

interface HashedConnectionTracking {
  readonly tcpEstablishedTimeout?: number | undefined;
  readonly udpStreamTimeout?: number | undefined;
  readonly udpTimeout?: number | undefined;
}

/**
 * The part of an EC2NodeClass spec that is hashed. Selector terms and ipPrefixCount are not: what the terms resolve to is
 * compared with the instance instead. (01 §6.2)
 */
export interface HashedNodeClass extends AmiSelection {
  readonly placementGroupSelector?:
    | { readonly name?: string | undefined; readonly id?: string | undefined }
    | undefined;
  readonly associatePublicIPAddress?: boolean | undefined;
  readonly userData?: string | undefined;
  readonly role?: string | undefined;
  readonly instanceProfile?: string | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
  readonly blockDeviceMappings?: readonly HashedDevice[] | undefined;
  readonly instanceStorePolicy?: string | undefined;
  readonly networkInterfaces?: readonly HashedInterface[] | undefined;
  readonly detailedMonitoring?: boolean | undefined;
  readonly metadataOptions?: HashedMetadataOptions | undefined;
  readonly connectionTracking?: HashedConnectionTracking | undefined;
  readonly context?: string | undefined;
  readonly cpuOptions?: { readonly nestedVirtualization?: string | undefined } | undefined;
  readonly kubelet?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Upstream's hash of version `v6`: the spec, the resolved image family, the cluster's CA bundle (part of every instance's
 * boot configuration) and the kubelet block, as a set of four. (01 §6.2, §6.3)
 */
export function ec2NodeClassHash(
  spec: HashedNodeClass,
  { caBundle }: { readonly caBundle?: string | undefined },
): string {
  return setHash([
    specHash(spec),
    textHash(resolvedAmiFamily(spec)),
    textHash(caBundle ?? ""),
    textHash(kubeletText(spec.kubelet)),
  ]).toString();
}

const text = (value: string | null | undefined): FieldHash => optionalHash(value, textHash);
const flag = (value: boolean | null | undefined): FieldHash => optionalHash(value, (one) => integerHash(one, 1));
const int32 = (value: number | null | undefined): FieldHash => optionalHash(value, (one) => integerHash(one, 4));
const int64 = (value: number | null | undefined): FieldHash => optionalHash(value, (one) => integerHash(one, 8));

function specHash(spec: HashedNodeClass): bigint {
  return structHash("EC2NodeClassSpec", {
    PlacementGroupSelector: optionalHash(spec.placementGroupSelector, ({ name, id }) =>
      structHash("PlacementGroupSelector", { Name: text(name), ID: text(id) }),
    ),
    AssociatePublicIPAddress: flag(spec.associatePublicIPAddress),
    UserData: text(spec.userData),
    Role: plainTextHash(spec.role),
    InstanceProfile: text(spec.instanceProfile),
    Tags: optionalHash(spec.tags, mapHash),
    BlockDeviceMappings: optionalHash(spec.blockDeviceMappings, (devices) => setHash(devices.map(deviceHash))),
    InstanceStorePolicy: text(spec.instanceStorePolicy),
    NetworkInterfaces: optionalHash(spec.networkInterfaces, (interfaces) => setHash(interfaces.map(interfaceHash))),
    DetailedMonitoring: flag(spec.detailedMonitoring),
    MetadataOptions: optionalHash(spec.metadataOptions, metadataOptionsHash),
    ConnectionTracking: optionalHash(spec.connectionTracking, connectionTrackingHash),
    Context: text(spec.context),
    CPUOptions: optionalHash(spec.cpuOptions, ({ nestedVirtualization }) =>
      structHash("CPUOptions", { NestedVirtualization: text(nestedVirtualization) }),
    ),
  });
}

function deviceHash({ deviceName, ebs, rootVolume }: HashedDevice): bigint {
  return structHash("BlockDeviceMapping", {
    DeviceName: text(deviceName),
    EBS: optionalHash(ebs, volumeHash),
    RootVolume: flag(rootVolume || undefined),
  });
}

function volumeHash(volume: HashedVolume): bigint {
  return structHash("BlockDevice", {
    DeleteOnTermination: flag(volume.deleteOnTermination),
    Encrypted: flag(volume.encrypted),
    IOPS: int64(volume.iops),
    KMSKeyID: text(volume.kmsKeyID),
    SnapshotID: text(volume.snapshotID),
    Throughput: int64(volume.throughput),
    VolumeInitializationRate: int32(volume.volumeInitializationRate),
    VolumeSize: optionalHash(volume.volumeSize, (size) => textHash(Quantity.tryParse(size)?.canonical() ?? size)),
    VolumeType: text(volume.volumeType),
  });
}

function interfaceHash({ networkCardIndex, deviceIndex, interfaceType }: HashedInterface): bigint {
  return structHash("NetworkInterface", {
    NetworkCardIndex: int32(networkCardIndex || undefined),
    DeviceIndex: int32(deviceIndex || undefined),
    InterfaceType: plainTextHash(interfaceType),
  });
}

function metadataOptionsHash(options: HashedMetadataOptions): bigint {
  return structHash("MetadataOptions", {
    HTTPEndpoint: text(options.httpEndpoint),
    HTTPProtocolIPv6: text(options.httpProtocolIPv6),
    HTTPPutResponseHopLimit: int64(options.httpPutResponseHopLimit),
    HTTPTokens: text(options.httpTokens),
  });
}

function connectionTrackingHash(tracking: HashedConnectionTracking): bigint {
  return structHash("ConnectionTracking", {
    TCPEstablishedTimeout: int32(tracking.tcpEstablishedTimeout),
    UDPStreamTimeout: int32(tracking.udpStreamTimeout),
    UDPTimeout: int32(tracking.udpTimeout),
  });
}

/**
 * The kubelet block is the user's own: nothing in it is normalised but the order of keys (01 §9.16). Go's JSON escapes
 * what could end a script element.
 */
function kubeletText(block: HashedNodeClass["kubelet"]): string {
  if (block === undefined || block === null || Object.keys(block).length === 0) return "null";
  return canonicalJson(block).replace(
    /[<>&\u2028\u2029]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
