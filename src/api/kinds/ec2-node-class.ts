import * as z from "zod";
import type { CelRule } from "../structural/schema.ts";
import { amiFamilies } from "../vocabulary.ts";
import { plainConditions } from "./condition.ts";
import {
  blockDeviceMappings,
  connectionTracking,
  instanceTags,
  metadataOptions,
  networkInterfaces,
} from "./ec2-machine.ts";
import {
  aliasFamilies,
  amiSelectorTerms,
  capacityReservationSelectorTerms,
  placementGroupSelector,
  securityGroupSelectorTerms,
  subnetSelectorTerms,
} from "./ec2-selector-terms.ts";
import { dateTime, flag, int32, meta, resource, rules, type Stored, text } from "./fields.ts";

/** The family an alias names must be the one written down, unless that is Custom. */
function aliasAgrees(family: (typeof aliasFamilies)[number]): CelRule {
  const written = amiFamilies.find((one) => one.toLowerCase() === family) ?? family;
  return {
    id: "EC13",
    rule: `!has(self.amiFamily) || self.amiFamily in ["${written}", "Custom"] || !self.amiSelectorTerms.exists(term, has(term.alias) && term.alias.split("@")[0] == "${family}")`,
    message: `an alias of family ${family} needs amiFamily ${written} or Custom, or none`,
  };
}

const identity = (field: "role" | "instanceProfile", description: string) =>
  text(description, rules({ id: "EC12", rule: 'self != ""', message: `${field} may not be empty` })).optional();

const spec = meta(
  z.object({
    subnetSelectorTerms,
    securityGroupSelectorTerms,
    capacityReservationSelectorTerms: capacityReservationSelectorTerms.optional(),
    placementGroupSelector: placementGroupSelector.optional(),
    associatePublicIPAddress: flag("Whether nodes get a public address; the subnet's setting when unset.").optional(),
    ipPrefixCount: int32("How many IPv4 prefixes the interface gets.", z.number().min(0)).optional(),
    amiSelectorTerms,
    amiFamily: meta(z.enum(amiFamilies), {
      description: "How user data is written and which disks are the default; needed without an alias.",
    }).optional(),
    userData: text("Merged into the user data the image family needs; used as it is with Custom.").optional(),
    role: identity("role", "The IAM role nodes take on; a profile is managed for it."),
    instanceProfile: identity("instanceProfile", "An existing instance profile to use instead of a role."),
    tags: instanceTags.optional(),
    kubelet: meta(z.record(z.string(), z.unknown()), {
      description: "The kubelet's configuration, as the kubelet spells it; checked by the controller.",
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
    }).optional(),
    blockDeviceMappings: blockDeviceMappings.optional(),
    instanceStorePolicy: meta(z.enum(["RAID0"]), { description: "How local disks are used." }).optional(),
    networkInterfaces: networkInterfaces.optional(),
    detailedMonitoring: flag("Whether metrics come every minute.").optional(),
    metadataOptions,
    connectionTracking: connectionTracking.optional(),
    context: text("A reserved field, passed on to EC2.").optional(),
    cpuOptions: meta(
      z.object({
        nestedVirtualization: meta(z.enum(["enabled", "disabled"]), {
          description: "Whether guests may run on the node; narrows the instance types.",
        }).optional(),
      }),
      { description: "CPU settings." },
    ).optional(),
  }),
  {
    description: "How EC2 machines are made.",
    ...rules(
      {
        id: "EC12",
        rule: "has(self.role) != has(self.instanceProfile)",
        message: "set exactly one of role and instanceProfile",
      },
      ...aliasFamilies.map(aliasAgrees),
      {
        id: "EC13",
        rule: "has(self.amiFamily) || self.amiSelectorTerms.exists(term, has(term.alias))",
        message: "amiFamily is needed when no term has an alias",
      },
    ),
  },
);

const imageRequirement = z.object({
  key: text("A label key."),
  operator: text("How it relates to the values."), // a plain text upstream: the schema closes no set here
  values: meta(z.array(z.string()), { description: "Values.", "x-kubernetes-list-type": "atomic" }).optional(),
});

const status = meta(
  z.object({
    subnets: meta(
      z.array(z.object({ id: text("Its id."), zone: text("Its zone."), zoneID: text("Its zone id.").optional() })),
      { description: "The subnets found." },
    ).optional(),
    securityGroups: meta(z.array(z.object({ id: text("Its id."), name: text("Its name.").optional() })), {
      description: "The security groups found.",
    }).optional(),
    capacityReservations: meta(
      z.array(
        z.object({
          availabilityZone: text("Its zone."),
          endTime: meta(dateTime, { description: "When it ends.", format: "date-time" }).optional(),
          id: text("Its id.", { pattern: "^cr-[0-9a-z]+$" }),
          instanceMatchCriteria: meta(z.enum(["open", "targeted"]), { description: "Which instances it takes." }),
          instanceType: text("Its instance type."),
          ownerID: text("Its owner.", { pattern: "^[0-9]{12}$" }),
          reservationType: meta(z.enum(["default", "capacity-block"]), { description: "Its kind." }).default("default"),
          interruptible: flag("Whether it can be taken back.").optional(), // statuses older than the field lack it
          state: meta(z.enum(["active", "expiring"]), { description: "Whether it is about to end." }).default("active"),
        }),
      ),
      { description: "The capacity reservations found." },
    ).optional(),
    amis: meta(
      z.array(
        z.object({
          id: text("Its id."),
          name: text("Its name.").optional(),
          deprecated: flag("Whether it is deprecated.").optional(),
          requirements: z.array(imageRequirement),
        }),
      ),
      { description: "The images found, and which types they fit." },
    ).optional(),
    instanceProfile: text("The instance profile in use.").optional(),
    conditions: plainConditions.optional(),
  }),
  { description: "What the selectors resolved to." },
);

/** `karpenter.k8s.aws/v1` EC2NodeClass. (01 §1.6) */
export const ec2NodeClass = () =>
  resource(
    {
      spec: spec.optional(),
      status: status.optional(),
    },
    { description: "An EC2NodeClass says how EC2 machines are made: network, image, identity, disks." },
  );

export type Ec2NodeClass = Stored<z.output<ReturnType<typeof ec2NodeClass>>>;
