import type { LaunchTemplateBlockDeviceMappingRequest } from "@aws-sdk/client-ec2";
import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import type { AmiFamily } from "../../../api/vocabulary.ts";
import { Quantity } from "../../../util/quantity.ts";
import { amiFamilyTraits } from "../ami-families.ts";

export type BlockDeviceMapping = NonNullable<NonNullable<Ec2NodeClass["spec"]>["blockDeviceMappings"]>[number];
type Volume = NonNullable<BlockDeviceMapping["ebs"]>;

const gibibyte = 2n ** 30n;

/** The volumes of a node: the class's own, or the family's defaults. (04 §1.8) */
export function blockDeviceRequests(
  amiFamily: AmiFamily,
  specified: readonly BlockDeviceMapping[] | undefined,
): LaunchTemplateBlockDeviceMappingRequest[] {
  return (specified ?? defaultBlockDevices(amiFamily)).map(({ deviceName, ebs }) => ({
    ...(deviceName !== undefined && { DeviceName: deviceName }),
    ...(ebs && { Ebs: volumeRequest(ebs) }),
  }));
}

/** The volumes of a family whose class names none. (04 §1.8) */
export function defaultBlockDevices(amiFamily: AmiFamily): readonly BlockDeviceMapping[] {
  const { ephemeralDevice, ephemeralSize, systemVolume } = amiFamilyTraits[amiFamily];
  if (ephemeralDevice === undefined || ephemeralSize === undefined) return [];
  const own = systemVolume === undefined ? [] : [defaultVolume(systemVolume.deviceName, systemVolume.size)];
  return [...own, defaultVolume(ephemeralDevice, ephemeralSize)];
}

function defaultVolume(deviceName: string, volumeSize: string): BlockDeviceMapping {
  return { deviceName, ebs: { volumeSize, volumeType: "gp3", encrypted: true } };
}

function volumeRequest(volume: Volume): NonNullable<LaunchTemplateBlockDeviceMappingRequest["Ebs"]> {
  return {
    DeleteOnTermination: volume.deleteOnTermination,
    Encrypted: volume.encrypted,
    Iops: volume.iops,
    KmsKeyId: volume.kmsKeyID,
    SnapshotId: volume.snapshotID,
    Throughput: volume.throughput,
    VolumeInitializationRate: volume.volumeInitializationRate,
    VolumeSize: volume.volumeSize === undefined ? undefined : sizeInGiB(volume.volumeSize),
    VolumeType: volume.volumeType,
  };
}

/** EC2 counts in whole GiB: what does not divide is rounded up. (04 §1.8) */
function sizeInGiB(size: string): number {
  const bytes = Quantity.parse(size).value();
  return Number((bytes + gibibyte - 1n) / gibibyte);
}
