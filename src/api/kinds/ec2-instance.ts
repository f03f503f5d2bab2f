import * as z from "zod";
import { schemaPatterns } from "./patterns.ts";
import {
  booleanField,
  celRules,
  enumField,
  int32Field,
  int64Field,
  objectField,
  objectListField,
  stringField,
  stringMapField,
  withMeta,
} from "./schema-fields.ts";

/** How EC2 instances are configured: disks, network interfaces, metadata service, tags. (01 §1.6.1, 01:EC14–EC23) */

const ebs = objectField(
  "The EBS volume.",
  {
    deleteOnTermination: booleanField("Whether the volume is deleted with the instance.").optional(),
    encrypted: booleanField("Whether the volume is encrypted.").optional(),
    iops: int64Field("Provisioned I/O operations per second.").optional(),
    throughput: int64Field("Throughput in MiB/s (gp3).").optional(),
    kmsKeyID: stringField("The key the volume is encrypted with.").optional(),
    snapshotID: stringField("The snapshot the volume is created from.").optional(),
    volumeInitializationRate: int32Field(
      "How fast a snapshot is loaded, in MiB/s.",
      z.number().min(100).max(300),
    ).optional(),
    volumeSize: stringField("The size, in whole Gi, G, Ti or T.", { pattern: schemaPatterns.volumeSize }).optional(),
    volumeType: enumField("The volume type.", ["standard", "io1", "io2", "gp2", "sc1", "st1", "gp3"]).optional(),
  },
  celRules(
    { id: "EC21", rule: "has(self.snapshotID) || has(self.volumeSize)", message: "set snapshotID or volumeSize" },
    {
      id: "EC21",
      rule: '!has(self.volumeInitializationRate) || (has(self.snapshotID) && self.snapshotID != "")',
      message: "volumeInitializationRate needs a snapshotID",
    },
  ),
);

export const blockDeviceMappings = objectListField(
  "The disks of a node; the image family's own when unset.",
  {
    deviceName: stringField("The device name.").optional(),
    rootVolume: booleanField("Whether this device holds the kubelet's data.").optional(),
    ebs: ebs.optional(),
  },
  {
    max: 50,
    ...celRules({
      id: "EC20",
      rule: "self.filter(device, has(device.rootVolume) && device.rootVolume).size() <= 1",
      message: "at most one device may be the rootVolume",
    }),
  },
);

export const networkInterfaces = objectListField(
  "The network interfaces of a node.",
  {
    networkCardIndex: int32Field("The network card.", z.number().min(0)),
    deviceIndex: int32Field("The device on that card.", z.number().min(0)),
    interfaceType: enumField("The interface type.", ["interface", "efa-only"]),
  },
  {
    max: 150,
    ...celRules(
      {
        id: "EC22",
        rule: 'size(self) == 0 || self.exists(card, card.networkCardIndex == 0 && card.deviceIndex == 0 && card.interfaceType == "interface")',
        message: "card 0, device 0 must be an interface",
      },
      {
        id: "EC22",
        rule: "self.all(one, self.exists_one(other, one.networkCardIndex == other.networkCardIndex && one.deviceIndex == other.deviceIndex))",
        message: "networkCardIndex and deviceIndex together must be unique",
      },
      {
        id: "EC22",
        rule: 'self.all(one, one.interfaceType != "efa-only" || self.exists_one(other, other.interfaceType == "efa-only" && one.networkCardIndex == other.networkCardIndex))',
        message: "at most one efa-only interface a card",
      },
    ),
  },
);

const onOff = z.enum(["enabled", "disabled"]);

export const metadataOptions = objectField("The instance metadata service.", {
  httpEndpoint: withMeta(onOff, { description: "Whether the metadata service is enabled." }).default("enabled"),
  httpProtocolIPv6: withMeta(onOff, { description: "Whether it is available over IPv6." }).default("disabled"),
  httpPutResponseHopLimit: int64Field("The hop limit of its responses.", z.number().min(1).max(64)).default(1),
  httpTokens: enumField("Whether requests need a token.", ["required", "optional"]).default("required"),
}).prefault({
  httpEndpoint: "enabled",
  httpProtocolIPv6: "disabled",
  httpPutResponseHopLimit: 1,
  httpTokens: "required",
});

export const connectionTracking = objectField(
  "The idle timeouts of tracked connections.",
  {
    tcpEstablishedTimeout: int32Field(
      "Idle seconds of established TCP connections.",
      z.number().min(60).max(432000),
    ).optional(),
    udpStreamTimeout: int32Field("Idle seconds of UDP streams.", z.number().min(60).max(180)).optional(),
    udpTimeout: int32Field("Idle seconds of other UDP flows.", z.number().min(30).max(60)).optional(),
  },
  celRules({
    id: "EC23",
    rule: "has(self.tcpEstablishedTimeout) || has(self.udpStreamTimeout) || has(self.udpTimeout)",
    message: "set at least one timeout",
  }),
);

const restrictedTag = (id: string, key: string) => ({
  id,
  rule: `!("${key}" in self)`,
  message: `tag ${key} is restricted`,
});

export const instanceTags = stringMapField(
  "Tags put on instances, volumes, interfaces, launch templates and profiles.",
  {
    ...celRules(
      { id: "EC14", rule: '!("" in self)', message: "empty tag keys are not supported" },
      restrictedTag("EC15", "eks:eks-cluster-name"),
      {
        id: "EC16",
        rule: 'self.all(key, !key.startsWith("kubernetes.io/cluster"))',
        message: "tags beginning with kubernetes.io/cluster are restricted",
      },
      restrictedTag("EC17", "karpenter.sh/nodepool"),
      restrictedTag("EC18", "karpenter.sh/nodeclaim"),
      restrictedTag("EC19", "karpenter.k8s.aws/ec2nodeclass"),
    ),
  },
);
