import { Quantity } from "../../util/quantity.ts";
import { type ImageChoice, resolvedAmiFamily } from "../validation/ami-family.ts";
import { type Canonical, canonicalJson, map, plain, scalar, set, struct } from "./canonical.ts";
import { hash64 } from "./hash64.ts";

type Scalars<K extends string> = { readonly [key in K]?: string | number | boolean | undefined };

interface HashedDevice extends Scalars<"deviceName" | "rootVolume"> {
  readonly ebs?: (Scalars<EbsField> & { readonly volumeSize?: string | undefined }) | undefined;
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
type EbsField = (typeof ebsFields)[number];

/**
 * The part of an EC2NodeClass spec that is hashed. Selector terms and ipPrefixCount are not: what the terms resolve to is
 * compared with the instance instead. (01 §6.2)
 */
export interface HashedNodeClass extends ImageChoice {
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

/** The cluster's CA bundle is part of every machine's boot configuration, so it counts too. */
export function ec2NodeClassHash(
  spec: HashedNodeClass,
  { caBundle }: { readonly caBundle?: string | undefined },
): string {
  const canonical = struct({
    spec: specOf(spec),
    amiFamily: plain(resolvedAmiFamily(spec)),
    caBundle: plain(caBundle),
    kubelet: kubelet(spec.kubelet),
  });
  return hash64(canonical ?? "");
}

function specOf(spec: HashedNodeClass): Canonical {
  return struct({
    placementGroupSelector: scalars(spec.placementGroupSelector, ["name", "id"]),
    associatePublicIPAddress: scalar(spec.associatePublicIPAddress),
    userData: scalar(spec.userData),
    role: plain(spec.role),
    instanceProfile: scalar(spec.instanceProfile),
    tags: map(spec.tags),
    blockDeviceMappings: set(spec.blockDeviceMappings?.map(device)),
    instanceStorePolicy: scalar(spec.instanceStorePolicy),
    networkInterfaces: set(
      spec.networkInterfaces?.map((one) => scalars(one, ["networkCardIndex", "deviceIndex", "interfaceType"])),
    ),
    detailedMonitoring: scalar(spec.detailedMonitoring),
    metadataOptions: scalars(spec.metadataOptions, [
      "httpEndpoint",
      "httpProtocolIPv6",
      "httpPutResponseHopLimit",
      "httpTokens",
    ]),
    connectionTracking: scalars(spec.connectionTracking, ["tcpEstablishedTimeout", "udpStreamTimeout", "udpTimeout"]),
    context: scalar(spec.context),
    cpuOptions: scalars(spec.cpuOptions, ["nestedVirtualization"]),
  });
}

function scalars<K extends string>(fields: Scalars<K> | undefined, names: readonly K[]): Canonical {
  return struct(Object.fromEntries(names.map((name) => [name, scalar(fields?.[name])])));
}

function device({ deviceName, rootVolume, ebs }: HashedDevice): Canonical {
  const size = ebs?.volumeSize === undefined ? undefined : volumeSize(ebs.volumeSize);
  const volume = ebs && struct({ size: scalar(size), others: scalars(ebs, ebsFields) });
  return struct({ deviceName: scalar(deviceName), rootVolume: plain(rootVolume), ebs: volume });
}

function volumeSize(text: string): string {
  return Quantity.tryParse(text)?.canonical() ?? text;
}

// The kubelet block is the user's own: nothing in it is normalised but the order of keys. (trap 16)
function kubelet(block: HashedNodeClass["kubelet"]): Canonical {
  return block === undefined || Object.keys(block).length === 0 ? undefined : canonicalJson(block);
}
