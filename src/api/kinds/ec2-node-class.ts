import * as z from "zod";
import type { CelRule } from "../structural/schema.ts";
import { amiFamilies } from "../vocabulary.ts";
import { plainConditionListSchema } from "./condition.ts";
import {
  blockDeviceMappings,
  connectionTracking,
  instanceTags,
  metadataOptions,
  networkInterfaces,
} from "./ec2-instance.ts";
import {
  aliasFamilies,
  amiSelectorTerms,
  capacityReservationSelectorTerms,
  placementGroupSelector,
  securityGroupSelectorTerms,
  subnetSelectorTerms,
} from "./ec2-selector-terms.ts";
import { schemaPatterns } from "./patterns.ts";
import {
  booleanField,
  celRules,
  dateTimeField,
  enumField,
  int32Field,
  objectField,
  objectListField,
  objectSchema,
  type Stored,
  stringField,
  withMeta,
} from "./schema-fields.ts";

/** The family of an alias must be amiFamily, unless that is Custom. */
function aliasFamilyRule(family: (typeof aliasFamilies)[number]): CelRule {
  const written = amiFamilies.find((one) => one.toLowerCase() === family) ?? family;
  return {
    id: "EC13",
    rule: `!has(self.amiFamily) || self.amiFamily in ["${written}", "Custom"] || !self.amiSelectorTerms.exists(term, has(term.alias) && term.alias.split("@")[0] == "${family}")`,
    message: `an alias of family ${family} needs amiFamily ${written} or Custom, or none`,
  };
}

const iamNameField = (field: "role" | "instanceProfile", description: string) =>
  stringField(
    description,
    celRules({ id: "EC12", rule: 'self != ""', message: `${field} may not be empty` }),
  ).optional();

const spec = objectField(
  "How EC2 instances are configured.",
  {
    subnetSelectorTerms,
    securityGroupSelectorTerms,
    capacityReservationSelectorTerms: capacityReservationSelectorTerms.optional(),
    placementGroupSelector: placementGroupSelector.optional(),
    associatePublicIPAddress: booleanField(
      "Whether nodes get a public address; the subnet's setting when unset.",
    ).optional(),
    ipPrefixCount: int32Field("How many IPv4 prefixes the interface gets.", z.number().min(0)).optional(),
    amiSelectorTerms,
    amiFamily: enumField(
      "How user data is written and which disks are the default; needed without an alias.",
      amiFamilies,
    ).optional(),
    userData: stringField("Merged into the user data the image family needs; used as it is with Custom.").optional(),
    role: iamNameField("role", "The IAM role of nodes; Karpenter manages an instance profile for it."),
    instanceProfile: iamNameField("instanceProfile", "An existing instance profile to use instead of a role."),
    tags: instanceTags.optional(),
    kubelet: withMeta(z.record(z.string(), z.unknown()), {
      description: "The kubelet's configuration, as the kubelet spells it; checked by the controller.",
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
    }).optional(),
    blockDeviceMappings: blockDeviceMappings.optional(),
    instanceStorePolicy: enumField("How local disks are used.", ["RAID0"]).optional(),
    networkInterfaces: networkInterfaces.optional(),
    detailedMonitoring: booleanField("Whether detailed monitoring (metrics every minute) is enabled.").optional(),
    metadataOptions,
    connectionTracking: connectionTracking.optional(),
    context: stringField("A reserved field, passed on to EC2.").optional(),
    cpuOptions: objectField("CPU settings.", {
      nestedVirtualization: enumField("Whether nested virtualization is enabled; limits the instance types.", [
        "enabled",
        "disabled",
      ]).optional(),
    }).optional(),
  },
  celRules(
    {
      id: "EC12",
      rule: "has(self.role) != has(self.instanceProfile)",
      message: "set exactly one of role and instanceProfile",
    },
    ...aliasFamilies.map(aliasFamilyRule),
    {
      id: "EC13",
      rule: "has(self.amiFamily) || self.amiSelectorTerms.exists(term, has(term.alias))",
      message: "amiFamily is needed when no term has an alias",
    },
  ),
);

const amiRequirement = z.object({
  key: stringField("A label key."),
  operator: stringField("The operator."), // upstream's schema has no enum here
  values: withMeta(z.array(z.string()), { description: "Values.", "x-kubernetes-list-type": "atomic" }).optional(),
});

const status = objectField("What the selectors resolved to.", {
  subnets: objectListField("The matching subnets.", {
    id: stringField("The subnet ID."),
    zone: stringField("The subnet zone."),
    zoneID: stringField("The subnet zone ID.").optional(),
  }).optional(),
  securityGroups: objectListField("The matching security groups.", {
    id: stringField("The security group ID."),
    name: stringField("The security group name.").optional(),
  }).optional(),
  capacityReservations: objectListField("The matching capacity reservations.", {
    availabilityZone: stringField("The capacity reservation zone."),
    endTime: dateTimeField("When it ends.").optional(),
    id: stringField("The capacity reservation ID.", { pattern: schemaPatterns.capacityReservationId }),
    instanceMatchCriteria: enumField("Which instances it accepts.", ["open", "targeted"]),
    instanceType: stringField("The capacity reservation instance type."),
    ownerID: stringField("The capacity reservation owner.", { pattern: schemaPatterns.accountId }),
    reservationType: enumField("The capacity reservation type.", ["default", "capacity-block"]).default("default"),
    interruptible: booleanField("Whether it can be interrupted.").optional(), // statuses older than the field lack it
    state: enumField("The state of the reservation.", ["active", "expiring"]).default("active"),
  }).optional(),
  amis: objectListField("The matching images and the instance types they are for.", {
    id: stringField("The image ID."),
    name: stringField("The image name.").optional(),
    deprecated: booleanField("Whether it is deprecated.").optional(),
    requirements: z.array(amiRequirement),
  }).optional(),
  instanceProfile: stringField("The instance profile in use.").optional(),
  conditions: plainConditionListSchema.optional(),
});

/** `karpenter.k8s.aws/v1` EC2NodeClass. (01 §1.6) */
export const ec2NodeClassSchema = () =>
  objectSchema(
    { spec: spec.optional(), status: status.optional() },
    { description: "An EC2NodeClass configures EC2 instances: network, image, identity, disks." },
  );

export type Ec2NodeClass = Stored<z.output<ReturnType<typeof ec2NodeClassSchema>>>;
/** As people write it: what has a default may be left out. */
export type Ec2NodeClassInput = Stored<z.input<ReturnType<typeof ec2NodeClassSchema>>>;
