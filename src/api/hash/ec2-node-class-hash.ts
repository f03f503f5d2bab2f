import { canonicalJson } from "../../util/canonical-json.ts";
import { hash64 } from "../../util/hash.ts";
import { Quantity } from "../../util/quantity.ts";
import { type AmiSelection, resolvedAmiFamily } from "../validation/ami-family.ts";
import {
  type Canonical,
  canonicalMap,
  canonicalNonZero,
  canonicalScalar,
  canonicalSet,
  canonicalStruct,
} from "./canonical.ts";

type Scalars<K extends string> = { readonly [key in K]?: string | number | boolean | undefined };

interface HashedDevice extends Scalars<"deviceName" | "rootVolume"> {
  readonly ebs?: (Scalars<(typeof ebsFields)[number]> & { readonly volumeSize?: string | undefined }) | undefined;
}

const ebsFields = [
  "volumeType",
  "deleteOnTermination",
  "encrypted",
  "iops",
  "throughput",
  "kmsKeyID",
  "snapshotID",
  "volumeInitializationRate",
] as const;

/**
 * The part of an EC2NodeClass spec that is hashed. Selector terms and ipPrefixCount are not: what the terms resolve to is
 * compared with the instance instead. (01 §6.2)
 */
export interface HashedNodeClass extends AmiSelection {
  readonly placementGroupSelector?: Scalars<"name" | "id"> | undefined;
  readonly associatePublicIPAddress?: boolean | undefined;
  readonly userData?: string | undefined;
  readonly role?: string | undefined;
  readonly instanceProfile?: string | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
  readonly blockDeviceMappings?: readonly HashedDevice[] | undefined;
  readonly instanceStorePolicy?: string | undefined;
  readonly networkInterfaces?: readonly Scalars<"networkCardIndex" | "deviceIndex" | "interfaceType">[] | undefined;
  readonly detailedMonitoring?: boolean | undefined;
  readonly metadataOptions?:
    | Scalars<"httpEndpoint" | "httpProtocolIPv6" | "httpPutResponseHopLimit" | "httpTokens">
    | undefined;
  readonly connectionTracking?: Scalars<"tcpEstablishedTimeout" | "udpStreamTimeout" | "udpTimeout"> | undefined;
  readonly context?: string | undefined;
  readonly cpuOptions?: Scalars<"nestedVirtualization"> | undefined;
  readonly kubelet?: Readonly<Record<string, unknown>> | undefined;
}

/** The cluster's CA bundle is part of every instance's boot configuration, so it is hashed too. */
export function ec2NodeClassHash(
  spec: HashedNodeClass,
  { caBundle }: { readonly caBundle?: string | undefined },
): string {
  const canonical = canonicalStruct({
    spec: canonicalSpec(spec),
    amiFamily: canonicalNonZero(resolvedAmiFamily(spec)),
    caBundle: canonicalNonZero(caBundle),
    kubelet: canonicalKubelet(spec.kubelet),
  });
  return hash64(canonical ?? "");
}

function canonicalSpec(spec: HashedNodeClass): Canonical {
  return canonicalStruct({
    placementGroupSelector: canonicalScalars(spec.placementGroupSelector, ["name", "id"]),
    associatePublicIPAddress: canonicalScalar(spec.associatePublicIPAddress),
    userData: canonicalScalar(spec.userData),
    role: canonicalNonZero(spec.role),
    instanceProfile: canonicalScalar(spec.instanceProfile),
    tags: canonicalMap(spec.tags),
    blockDeviceMappings: canonicalSet(spec.blockDeviceMappings?.map(canonicalDevice)),
    instanceStorePolicy: canonicalScalar(spec.instanceStorePolicy),
    networkInterfaces: canonicalSet(
      spec.networkInterfaces?.map((one) => canonicalScalars(one, ["networkCardIndex", "deviceIndex", "interfaceType"])),
    ),
    detailedMonitoring: canonicalScalar(spec.detailedMonitoring),
    metadataOptions: canonicalScalars(spec.metadataOptions, [
      "httpEndpoint",
      "httpProtocolIPv6",
      "httpPutResponseHopLimit",
      "httpTokens",
    ]),
    connectionTracking: canonicalScalars(spec.connectionTracking, [
      "tcpEstablishedTimeout",
      "udpStreamTimeout",
      "udpTimeout",
    ]),
    context: canonicalScalar(spec.context),
    cpuOptions: canonicalScalars(spec.cpuOptions, ["nestedVirtualization"]),
  });
}

function canonicalScalars<K extends string>(fields: Scalars<K> | undefined, names: readonly K[]): Canonical {
  return canonicalStruct(Object.fromEntries(names.map((name) => [name, canonicalScalar(fields?.[name])])));
}

function canonicalDevice({ deviceName, rootVolume, ebs }: HashedDevice): Canonical {
  const size = ebs?.volumeSize === undefined ? undefined : volumeSize(ebs.volumeSize);
  const volume = ebs && canonicalStruct({ size: canonicalScalar(size), others: canonicalScalars(ebs, ebsFields) });
  return canonicalStruct({
    deviceName: canonicalScalar(deviceName),
    rootVolume: canonicalNonZero(rootVolume),
    ebs: volume,
  });
}

function volumeSize(text: string): string {
  return Quantity.tryParse(text)?.canonical() ?? text;
}

// The kubelet block is the user's own: nothing in it is normalised but the order of keys. (01 §9.16)
function canonicalKubelet(block: HashedNodeClass["kubelet"]): Canonical {
  return block === undefined || Object.keys(block).length === 0 ? undefined : canonicalJson(block);
}
