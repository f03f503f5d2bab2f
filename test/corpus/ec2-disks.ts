import type { Case } from "./case.ts";
import { atMost, choice, field, list, range, type Table } from "./ec2-table.ts";

/** Block devices and their sizes. (01:EC20, EC21, §0.2 VOLSIZE) */

const devices = field("spec.blockDeviceMappings");
const disk = { deviceName: "/dev/xvda", ebs: { volumeSize: "20Gi" } };
const root = { ...disk, rootVolume: true };
const data = { ...disk, rootVolume: false };
const everything = {
  deleteOnTermination: true,
  encrypted: true,
  iops: 3000,
  throughput: 125,
  kmsKeyID: "alias/disks",
  snapshotID: "snap-1",
  volumeInitializationRate: 100,
  volumeSize: "20Gi",
  volumeType: "gp3",
};

export const blockDeviceCases: readonly Case[] = [
  ...devices.accepts({
    "01:EC20 no root volume": [disk, data],
    "01:EC20 one root volume": [root, data, disk],
    "01:EC20 no devices": [],
    "01:EC21 a device without a volume": [{ deviceName: "/dev/xvdb" }],
    "01:EC21 a volume of a size": [{ ebs: { volumeSize: "1Gi" } }],
    "01:EC21 a volume of a snapshot": [{ ebs: { snapshotID: "snap-1" } }],
    "01:EC21 a volume of an empty snapshot": [{ ebs: { snapshotID: "" } }],
    "01:EC21 a snapshot loaded at a rate": [{ ebs: { snapshotID: "snap-1", volumeInitializationRate: 200 } }],
    "01 §1.6.1 a volume with everything said": [{ ...disk, ebs: everything }],
    "01 §1.6.1 iops and throughput have no range": [
      { ebs: { volumeSize: "1Gi", iops: -1, throughput: 9_000_000_000 } },
    ],
    "01 §1.6.1 iops as large as numbers stay exact": [{ ebs: { volumeSize: "1Gi", iops: Number.MAX_SAFE_INTEGER } }],
  }),
  ...devices.refuses({
    "01:EC20 two root volumes": [root, root],
    "01:EC20 two root volumes among others": [root, data, disk, root],
    "01:EC21 neither snapshot nor size": [{ ebs: {} }],
    "01:EC21 neither snapshot nor size, only a type": [{ ebs: { volumeType: "gp3" } }],
    "01:EC21 null for the size": [{ ebs: { volumeSize: null } }],
    "01:EC21 a rate without a snapshot": [{ ebs: { volumeSize: "1Gi", volumeInitializationRate: 200 } }],
    "01:EC21 a rate with an empty snapshot": [{ ebs: { snapshotID: "", volumeInitializationRate: 200 } }],
    "01 §1.6.1 iops beyond 64 bits": [{ ebs: { volumeSize: "1Gi", iops: 1e20 } }],
    "01 §1.6.1 half an iops": [{ ebs: { volumeSize: "1Gi", iops: 100.5 } }],
  }),
  ...range("spec.blockDeviceMappings[0].ebs.volumeInitializationRate", {
    min: 100,
    max: 300,
    beside: { "spec.blockDeviceMappings": [{ ebs: { snapshotID: "snap-1" } }] },
  }),
  ...choice("spec.blockDeviceMappings[0].ebs.volumeType", {
    of: ["standard", "io1", "io2", "gp2", "sc1", "st1", "gp3"],
    not: ["GP3", "gp4", ""],
    beside: { "spec.blockDeviceMappings": [disk] },
  }),
  ...atMost("spec.blockDeviceMappings", { most: 50, of: (count) => list(count, () => disk) }),
];

const size = field("spec.blockDeviceMappings[0].ebs.volumeSize");
const sizes = (values: string): Table =>
  Object.fromEntries(values.split(" ").map((one) => [`01 §0.2 VOLSIZE ${one}`, one]));

export const volumeSizeCases: readonly Case[] = [
  ...size.accepts(sizes("1Gi 9999Gi 10000Gi 49999Gi 50000Gi 58999Gi 59000Gi")),
  ...size.accepts(sizes("1G 9999G 59999G 60000G 63999G 64000G")),
  ...size.accepts(sizes("1Ti 9Ti 10Ti 17Ti 20Ti 27Ti 50Ti 57Ti 58Ti Ti")),
  ...size.accepts(sizes("1T 9T 10T 18T 19T 59T 60T 63T 64T T")),
  ...size.refuses(sizes("0Gi 01Gi 59001Gi 60000Gi 100000Gi 0G 64001G 65000G 100000G")),
  ...size.refuses(sizes("0Ti 18Ti 19Ti 28Ti 29Ti 38Ti 39Ti 48Ti 49Ti 59Ti 60Ti 100Ti 0T 65T 70T 100T")),
  ...size.refuses(sizes("Gi G 20 1.5Gi -1Gi +1Gi 1e3Gi 20gi 20GI 20GiB 20Mi 20M 1Pi 20Ki")),
  ...size.refuses({
    "01 §0.2 VOLSIZE empty": "",
    "01 §0.2 VOLSIZE with a space": "20 Gi",
    "01 §0.2 VOLSIZE with a newline behind": "20Gi\n",
  }),
];
