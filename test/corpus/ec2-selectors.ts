import type { Case } from "./case.ts";
import { atMost, choice, field, list, tagsOf } from "./ec2-table.ts";

/** What nodes are placed in: subnets, security groups, capacity reservations, a placement group. (01:EC1–EC4, EC24) */

const tags = { tags: { team: "a" } };

const subnets = field("spec.subnetSelectorTerms");
const subnet = { id: "subnet-1" };

export const subnetCases: readonly Case[] = [
  ...subnets.accepts({
    "01:EC1 subnets by tags": [tags],
    "01:EC1 subnets by id": [subnet],
    "01:EC1 subnets by tags or id": [tags, subnet],
    "01:EC1 subnets by tags that ask for nothing": [{ tags: {} }],
    // Upstream's rule asks whether every term is mixed, so one clean term excuses the rest. (01 §9.8)
    "01:EC1 subnets by id and tags, then by id": [{ ...subnet, ...tags }, subnet],
    "01:EC24 subnets with a tag of any value": [{ tags: { team: "*" } }],
    "01 §1.6.1 a subnet id anywhere in the text": [{ id: "my subnet-1!" }],
  }),
  ...subnets.refuses({
    "01:EC1 no subnet terms": [],
    "01:EC1 a subnet term that says nothing": [{}],
    "01:EC1 a subnet term with null for tags": [{ tags: null }],
    "01:EC1 the last subnet term says nothing": [tags, subnet, {}],
    "01:EC1 subnets by id and tags": [{ ...subnet, ...tags }],
    "01:EC1 subnets by id and tags, twice": [
      { ...subnet, ...tags },
      { ...subnet, ...tags },
    ],
    "01:EC24 a subnet tag with an empty key": [{ tags: { "": "a" } }],
    "01:EC24 a subnet tag with an empty value": [{ tags: { team: "" } }],
    "01:EC24 the last subnet term has an empty tag value": [tags, subnet, { tags: { team: "" } }],
    "01 §1.6.1 a subnet id without its prefix": [{ id: "1234" }],
    "01 §1.6.1 a subnet id in capitals": [{ id: "subnet-A" }],
    "01 §1.6.1 an empty subnet id": [{ id: "" }],
    "01 §0.1 null for a subnet term": [null],
  }),
  ...atMost("spec.subnetSelectorTerms", { most: 30, of: (count) => list(count, () => subnet) }),
  ...atMost("spec.subnetSelectorTerms[0].tags", {
    most: 20,
    of: tagsOf,
    beside: { "spec.subnetSelectorTerms": [tags] },
  }),
];

const groups = field("spec.securityGroupSelectorTerms");
const group = { id: "sg-1" };
const name = { name: "nodes" };

export const securityGroupCases: readonly Case[] = [
  ...groups.accepts({
    "01:EC2 security groups by tags": [tags],
    "01:EC2 security groups by id": [group],
    "01:EC2 security groups by name": [name],
    "01:EC2 security groups by an empty name": [{ name: "" }],
    "01:EC2 security groups by tags, id or name": [tags, group, name],
    "01:EC2 security groups by id and tags, then by id": [{ ...group, ...tags }, group],
    "01:EC2 security groups by name and tags, then by name": [{ ...name, ...tags }, name],
    // Two rules, and each finds a term the other one minds.
    "01:EC2 security groups by id and tags, then by name and tags": [
      { ...group, ...tags },
      { ...name, ...tags },
    ],
    "01:EC24 security groups with a tag of any value": [{ tags: { team: "*" } }],
    "01 §1.6.1 a security group id anywhere in the text": [{ id: "my sg-1!" }],
  }),
  ...groups.refuses({
    "01:EC2 no security group terms": [],
    "01:EC2 a security group term that says nothing": [{}],
    "01:EC2 a security group term with null for tags": [{ tags: null }],
    "01:EC2 the last security group term says nothing": [tags, group, {}],
    "01:EC2 security groups by id and tags": [{ ...group, ...tags }],
    "01:EC2 security groups by id and name": [{ ...group, ...name }],
    "01:EC2 security groups by name and tags": [{ ...name, ...tags }],
    "01:EC2 security groups by id, name and tags": [{ ...group, ...name, ...tags }],
    "01:EC24 a security group tag with an empty key": [{ tags: { "": "a" } }],
    "01:EC24 a security group tag with an empty value": [{ tags: { team: "" } }],
    "01:EC24 the last security group term has an empty tag value": [group, name, { tags: { team: "" } }],
    "01 §1.6.1 a security group id without its prefix": [{ id: "1234" }],
    "01 §1.6.1 an empty security group id": [{ id: "" }],
  }),
  ...atMost("spec.securityGroupSelectorTerms", { most: 30, of: (count) => list(count, () => group) }),
  ...atMost("spec.securityGroupSelectorTerms[0].tags", {
    most: 20,
    of: tagsOf,
    beside: { "spec.securityGroupSelectorTerms": [tags] },
  }),
];

const reservations = field("spec.capacityReservationSelectorTerms");
const reservation = { id: "cr-1" };
const ownerID = { ownerID: "123456789012" };
const open = { instanceMatchCriteria: "open" };

export const capacityReservationCases: readonly Case[] = [
  ...reservations.accepts({
    "01:EC3 no wish for reservations": undefined,
    "01:EC3 null for reservations counts as absent": null,
    "01:EC3 reservations by tags": [tags],
    "01:EC3 reservations by id": [reservation],
    "01:EC3 reservations by tags and owner": [{ ...tags, ...ownerID }],
    "01:EC3 reservations by criteria": [open],
    "01:EC3 reservations by criteria and tags": [{ ...open, ...tags }],
    "01:EC3 reservations by criteria and owner": [{ ...open, ...ownerID }],
    "01:EC3 reservations by criteria, owner and tags": [{ ...open, ...ownerID, ...tags }],
    "01:EC3 reservations by id and tags, then by id": [{ ...reservation, ...tags }, reservation],
    "01:EC24 reservations with a tag of any value": [{ tags: { team: "*" } }],
  }),
  ...reservations.refuses({
    // "Not every term is mixed" is false of no terms at all. (01 §1.6.2)
    "01:EC3 an empty list of reservation terms": [],
    "01:EC3 a reservation term that says nothing": [{}],
    "01:EC3 a reservation term with null for tags": [{ tags: null }],
    "01:EC3 an owner alone": [ownerID],
    "01:EC3 the last reservation term says nothing": [tags, reservation, {}],
    "01:EC3 reservations by id and tags": [{ ...reservation, ...tags }],
    "01:EC3 reservations by id and owner": [{ ...reservation, ...ownerID }],
    "01:EC3 reservations by id and criteria": [{ ...reservation, ...open }],
    "01:EC3 reservations by id with tags, then with owner": [
      { ...reservation, ...tags },
      { ...reservation, ...ownerID },
    ],
    "01:EC24 a reservation tag with an empty key": [{ tags: { "": "a" } }],
    "01:EC24 a reservation tag with an empty value": [{ tags: { team: "" } }],
    "01:EC24 the last reservation term has an empty tag value": [tags, reservation, { tags: { team: "" } }],
    "01 §1.6.1 a reservation id without its prefix": [{ id: "1234" }],
    "01 §1.6.1 a reservation id within other text": [{ id: "my cr-1" }],
    "01 §1.6.1 a reservation id in capitals": [{ id: "cr-A" }],
    "01 §1.6.1 an owner of 11 digits": [{ ...tags, ownerID: "12345678901" }],
    "01 §1.6.1 an owner of 13 digits": [{ ...tags, ownerID: "1234567890123" }],
    "01 §1.6.1 an owner with a letter": [{ ...tags, ownerID: "12345678901a" }],
  }),
  ...choice("spec.capacityReservationSelectorTerms[0].instanceMatchCriteria", {
    of: ["open", "targeted"],
    not: ["Open", "closed", ""],
  }),
  ...atMost("spec.capacityReservationSelectorTerms", { most: 30, of: (count) => list(count, () => reservation) }),
  ...atMost("spec.capacityReservationSelectorTerms[0].tags", { most: 20, of: tagsOf }),
];

const placementGroup = field("spec.placementGroupSelector");

export const placementGroupCases: readonly Case[] = [
  ...placementGroup.accepts({
    "01:EC4 no placement group": undefined,
    "01:EC4 a placement group by name": { name: "rack" },
    "01:EC4 a placement group by id": { id: "pg-1" },
    "01:EC4 a placement group by name, null for the id": { name: "rack", id: null },
  }),
  ...placementGroup.refuses({
    "01:EC4 a placement group that is not named": {},
    "01:EC4 a placement group by name and id": { name: "rack", id: "pg-1" },
    "01 §1.6.1 an empty placement group name": { name: "" },
    "01 §1.6.1 a placement group id without its prefix": { id: "1234" },
    "01 §1.6.1 a placement group id within other text": { id: "my pg-1" },
    "01 §1.6.1 an empty placement group id": { id: "" },
  }),
];
