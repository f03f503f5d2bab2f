import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import { resources } from "../../../api/labels.ts";
import { resolvedAmiFamily } from "../../../api/validation/ami-family.ts";
import { addOperation, type PatchOperation } from "../../../core/explain/json-patch.ts";
import type { LargerStorage } from "../../../core/explain/placement-analysis.ts";
import { allocatableOf, type InstanceType } from "../../../core/instance-type.ts";
import { amountOf } from "../../../core/resources.ts";
import type { Quantity } from "../../../util/quantity.ts";
import { amiFamilyTraits } from "../ami-families.ts";
import { type BlockDeviceMapping, defaultBlockDevices } from "../launch/block-devices.ts";

const gibibyte = 2n ** 30n;
/** The largest volume of the general purpose types. */
const maxGibibytes = 16_384n;
/** Beside what pods ask for, the kubelet keeps a part for itself: the first of these that is enough is taken. */
const shares = [115n, 125n, 150n, 200n, 300n] as const;

/**
 * The class with a larger volume for the kubelet, so that pods can have that much ephemeral storage on some type;
 * undefined where no volume is known that decides it. (04 §1.8, §2.3)
 */
export function largerStorage(
  nodeClass: Ec2NodeClass,
  needed: Quantity,
  typesOf: (nodeClass: Ec2NodeClass) => readonly InstanceType[],
): LargerStorage | undefined {
  const { name = "" } = nodeClass.metadata;
  for (const share of shares) {
    const size = wholeGibibytes(needed, share);
    const enlarged = size === undefined ? undefined : withVolume(nodeClass, size);
    if (enlarged === undefined) return undefined;
    const { device, operations, nodeClass: changed, text } = enlarged;
    const instanceTypes = typesOf(changed);
    const isEnough = instanceTypes.some(
      (type) => amountOf(allocatableOf(type), resources.ephemeralStorage).cmp(needed) >= 0,
    );
    if (!isEnough) continue;
    return {
      text: `enlarge the volume ${device} of EC2NodeClass ${name} ${text} (spec.blockDeviceMappings)`,
      nodeClass: { kind: "EC2NodeClass", name },
      operations,
      instanceTypes,
    };
  }
  return undefined;
}

function wholeGibibytes(needed: Quantity, share: bigint): string | undefined {
  const bytes = (needed.value() * share) / 100n + gibibyte; // one is reserved for the system
  const count = (bytes + gibibyte - 1n) / gibibyte;
  return count > maxGibibytes ? undefined : `${count}Gi`;
}

interface EnlargedClass {
  readonly device: string;
  readonly text: string;
  readonly operations: readonly PatchOperation[];
  readonly nodeClass: Ec2NodeClass;
}

/** The volume that holds the kubelet's data: the root volume, or the family's device, or the last one of a custom image. */
function withVolume(nodeClass: Ec2NodeClass, size: string): EnlargedClass | undefined {
  const { spec } = nodeClass;
  if (spec === undefined) return undefined;
  const family = resolvedAmiFamily(spec);
  const { ephemeralDevice } = amiFamilyTraits[family];
  const written = spec.blockDeviceMappings;
  const devices = written ?? defaultBlockDevices(family);
  const root = devices.findIndex(({ rootVolume, ebs }) => rootVolume === true && ebs?.volumeSize !== undefined);
  const ofFamily =
    family === "Custom" ? devices.length - 1 : devices.findIndex(({ deviceName }) => deviceName === ephemeralDevice);
  const index = root >= 0 ? root : ofFamily;
  const found = devices[index];
  if (found === undefined && ephemeralDevice === undefined) return undefined;
  const enlarged: BlockDeviceMapping =
    found === undefined
      ? { deviceName: ephemeralDevice, ebs: { volumeSize: size, volumeType: "gp3", encrypted: true } }
      : { ...found, ebs: { ...found.ebs, volumeSize: size } };
  const changed = found === undefined ? [...devices, enlarged] : devices.with(index, enlarged);
  return {
    device: enlarged.deviceName ?? "the root volume",
    text: `${found?.ebs?.volumeSize === undefined ? "" : `from ${found.ebs.volumeSize} `}to ${size}`,
    operations: volumeOperations(nodeClass, { written, index, found, enlarged, changed, size }),
    nodeClass: { ...nodeClass, spec: { ...spec, blockDeviceMappings: changed } } as Ec2NodeClass,
  };
}

function volumeOperations(
  nodeClass: Ec2NodeClass,
  {
    written,
    index,
    found,
    enlarged,
    changed,
    size,
  }: {
    readonly written: readonly BlockDeviceMapping[] | undefined;
    readonly index: number;
    readonly found: BlockDeviceMapping | undefined;
    readonly enlarged: BlockDeviceMapping;
    readonly changed: readonly BlockDeviceMapping[];
    readonly size: string;
  },
): readonly PatchOperation[] {
  const path = ["spec", "blockDeviceMappings"];
  if (written === undefined) return [addOperation(nodeClass, path, changed)];
  if (found === undefined) return [addOperation(nodeClass, [...path, "-"], enlarged)];
  return [addOperation(nodeClass, [...path, index, "ebs", "volumeSize"], size)];
}
