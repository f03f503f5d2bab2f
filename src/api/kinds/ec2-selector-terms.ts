import * as z from "zod";
import type { CelRule } from "../structural/schema.ts";
import { schemaPatterns } from "./patterns.ts";
import {
  celRules,
  enumField,
  objectField,
  objectListField,
  stringField,
  stringMapField,
  withMeta,
} from "./schema-fields.ts";

/** Selector terms of an EC2NodeClass: terms are ORed, the fields of one are ANDed. (01 §1.6.1, 01:EC1–EC11) */

const tags = stringMapField("Tags of the resource; `*` matches any value.", {
  maxProperties: 20,
  ...celRules({
    id: "EC24",
    rule: 'self.all(key, key != "" && self[key] != "")',
    message: "empty tag keys or values are not supported",
  }),
}).optional();

const idField = (description: string, pattern: string) => stringField(description, { pattern }).optional();

const notEmptyRule = (rule: string, name: string): CelRule => ({
  id: rule,
  rule: "size(self) > 0",
  message: `${name} may not be empty`,
});

const everyTermNeedsRule = (rule: string, fields: readonly string[]): CelRule => ({
  id: rule,
  rule: `self.all(term, ${fields.map((field) => `has(term.${field})`).join(" || ")})`,
  message: `every term needs one of ${fields.join(", ")}`,
});

/** Rejected only when every term is mixed: as upstream, a list with one valid term passes. (01 §9.8) */
const notAllMixedRule = (rule: string, field: string, others: readonly string[]): CelRule => ({
  id: rule,
  rule: `!self.all(term, has(term.${field}) && (${others.map((other) => `has(term.${other})`).join(" || ")}))`,
  message: `${field} cannot be combined with ${others.join(", ")}`,
});

const neverMixedRule = (rule: string, field: string, others: readonly string[]): CelRule => ({
  id: rule,
  rule: `self.all(term, !has(term.${field}) || !(${others.map((other) => `has(term.${other})`).join(" || ")}))`,
  message: `${field} cannot be combined with ${others.join(", ")}`,
});

export const subnetSelectorTerms = objectListField(
  "The subnets nodes are launched in.",
  { tags, id: idField("The subnet id.", schemaPatterns.subnetId) },
  {
    max: 30,
    ...celRules(
      notEmptyRule("EC1", "subnetSelectorTerms"),
      everyTermNeedsRule("EC1", ["tags", "id"]),
      notAllMixedRule("EC1", "id", ["tags"]),
    ),
  },
);

export const securityGroupSelectorTerms = objectListField(
  "The security groups of nodes: all that match.",
  {
    tags,
    id: idField("The security group id.", schemaPatterns.securityGroupId),
    name: stringField("The group name (not the Name tag).").optional(),
  },
  {
    max: 30,
    ...celRules(
      notEmptyRule("EC2", "securityGroupSelectorTerms"),
      everyTermNeedsRule("EC2", ["tags", "id", "name"]),
      notAllMixedRule("EC2", "id", ["tags", "name"]),
      notAllMixedRule("EC2", "name", ["tags", "id"]),
    ),
  },
);

export const capacityReservationSelectorTerms = objectListField(
  "Which capacity reservations nodes may use.",
  {
    tags,
    id: idField("The reservation id.", schemaPatterns.capacityReservationId),
    ownerID: idField("The account that owns the reservation.", schemaPatterns.accountId),
    instanceMatchCriteria: enumField("Which instances the reservation accepts.", ["open", "targeted"]).optional(),
  },
  {
    max: 30,
    ...celRules(
      everyTermNeedsRule("EC3", ["tags", "id", "instanceMatchCriteria"]),
      notAllMixedRule("EC3", "id", ["tags", "ownerID", "instanceMatchCriteria"]),
    ),
  },
);

export const aliasFamilies = ["al2", "al2023", "bottlerocket", "windows2019", "windows2022", "windows2025"] as const;
const quoted = aliasFamilies.map((family) => `"${family}"`).join(", ");

const alias = withMeta(z.string().max(30), {
  description: "An EKS-optimised image as `family@version`, e.g. `al2023@latest`.",
  ...celRules(
    { id: "EC9", rule: 'self.matches("^[a-zA-Z0-9]+@.+$")', message: "an alias is written family@version" },
    {
      id: "EC10",
      rule: `self.split("@")[0] in [${quoted}]`,
      message: `the family of an alias is one of ${aliasFamilies.join(", ")}`,
    },
    {
      id: "EC11",
      rule: '!(self.split("@")[0] in ["windows2019", "windows2022", "windows2025"]) || self.split("@")[1] == "latest"',
      message: "windows families can only be used with version latest",
    },
  ),
}).optional();

export const amiSelectorTerms = withMeta(
  z
    .array(
      z.object({
        alias,
        tags,
        id: idField("The image id.", schemaPatterns.imageId),
        name: stringField("The image name; without owner, own and Amazon's images are searched.").optional(),
        owner: stringField("The account or alias that owns the image.").optional(),
        ssmParameter: stringField("The name or ARN of the SSM parameter that holds the image id.").optional(),
      }),
    )
    .min(1)
    .max(30),
  {
    description: "The images of nodes.",
    ...celRules(
      everyTermNeedsRule("EC5", ["tags", "id", "name", "alias", "ssmParameter"]),
      neverMixedRule("EC6", "id", ["alias", "tags", "name", "owner"]),
      neverMixedRule("EC7", "alias", ["id", "tags", "name", "owner"]),
      {
        id: "EC8",
        rule: "!self.exists(term, has(term.alias)) || size(self) == 1",
        message: "a term with an alias must be the only term",
      },
    ),
  },
);

export const placementGroupSelector = objectField(
  "The placement group nodes are launched in.",
  {
    name: withMeta(z.string().min(1), { description: "The name of the placement group." }).optional(),
    id: idField("The id of the placement group.", schemaPatterns.placementGroupId),
  },
  celRules(
    { id: "EC4", rule: "has(self.name) || has(self.id)", message: "set name or id" },
    { id: "EC4", rule: "!(has(self.name) && has(self.id))", message: "set name or id, not both" },
  ),
);
