import { describe, expect, it } from "vitest";
import { Admission } from "../../src/api/admission.ts";
import { karpenterKinds } from "../../src/api/kinds/karpenter-kinds.ts";
import type { Problem } from "../../src/api/problem.ts";
import type { Case } from "./case.ts";
import { boundsOf, isHit } from "./coverage.ts";
import { ec2NodeClassCases, ec2NodeClassGroups } from "./ec2-node-class.ts";

const admission = new Admission("all");
const kind = karpenterKinds.find((one) => one.kind === "EC2NodeClass") ?? karpenterKinds[0];
const schema = admission.schema(kind);
const bounds = boundsOf(kind, schema);

/** How many cases upstream's own suite has in each group. (01 §8.3) */
const checklist: Partial<Record<keyof typeof ec2NodeClassGroups, number>> = {
  identity: 4,
  userData: 1,
  families: 9,
  aliasFamilies: 42,
  tags: 3,
  subnets: 10,
  securityGroups: 13,
  capacityReservations: 20,
  images: 36,
  kubelet: 4,
  metadataOptions: 5,
  blockDevices: 10,
  networkInterfaces: 9,
  connectionTracking: 11,
  identityUpdates: 4,
  cpuOptions: 4,
};

describe("the EC2NodeClass part of the corpus", () => {
  it.each(Object.entries(checklist))("01 §8.3 %s: at least %i cases", (group, count) => {
    expect(ec2NodeClassGroups[group as keyof typeof ec2NodeClassGroups].length).toBeGreaterThanOrEqual(count);
  });

  it("01 §8.3 the checklist is complete", () => {
    expect(Object.values(checklist).reduce((sum, count) => sum + count, 0)).toBe(185);
  });

  it("has no title twice", () => {
    const titles = ec2NodeClassCases.map(({ title }) => title);
    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
  });

  it("refuses for the reason in the title", () => {
    const refused = ec2NodeClassCases.filter(({ verdict }) => verdict === "refuse");
    expect(
      refused.filter((one) => !isAsTitled(one, admission.admit(one.object).problems)).map(({ title }) => title),
    ).toEqual([]);
  });
});

/** `01:EC8 …` is refused by that rule; `01 §1.6.1 …` by the schema, before any rule is asked. */
function isAsTitled({ title }: Case, problems: readonly Problem[]): boolean {
  const rule = /^01:EC\d+/.exec(title)?.[0];
  return rule === undefined
    ? problems.every((problem) => problem.rule === undefined)
    : problems.some((problem) => problem.rule === rule);
}

/** Bounds another one of the same field implies: nothing can break them alone. */
const implied: readonly string[] = [
  "spec.subnetSelectorTerms: subnetSelectorTerms may not be empty", // "not every term is mixed" is false of no terms
  "spec.securityGroupSelectorTerms: securityGroupSelectorTerms may not be empty",
  "status.conditions.*.reason: too-short", // the pattern asks for a letter
];

it("01 §1.6 each bound and rule is the only thing wrong with some object, so that losing it changes a verdict", () => {
  const alone = ec2NodeClassCases
    .map(({ object }) => admission.admit(object).problems)
    .filter(({ length }) => length === 1);
  const missed = bounds.filter((bound) => !alone.some(([only]) => only !== undefined && isHit(bound, only, schema)));
  expect(missed.map(({ place, code, message }) => `${place}: ${message ?? code}`)).toEqual(implied);
});

describe("the CEL rules of EC2NodeClass", () => {
  const rules = bounds.filter(({ code }) => code === "rule");

  it("01 §1.6.2 are upstream's 44 and one more: a card's uniqueness and its efa-only limit are told apart", () => {
    expect(rules.length).toBe(45);
    expect(new Set(rules.map(({ place, message }) => `${place}: ${message}`)).size).toBe(45);
  });

  it("01 §1.6.2 stand where upstream's stand", () => {
    const counts: Record<string, number> = {};
    for (const { place } of rules) counts[place] = (counts[place] ?? 0) + 1;
    expect(counts).toEqual({
      spec: 8,
      "spec.amiSelectorTerms": 4,
      "spec.amiSelectorTerms.*.alias": 3,
      "spec.amiSelectorTerms.*.tags": 1,
      "spec.blockDeviceMappings": 1,
      "spec.blockDeviceMappings.*.ebs": 2,
      "spec.capacityReservationSelectorTerms": 2,
      "spec.capacityReservationSelectorTerms.*.tags": 1,
      "spec.connectionTracking": 1,
      "spec.instanceProfile": 1,
      "spec.networkInterfaces": 3,
      "spec.placementGroupSelector": 2,
      "spec.role": 1,
      "spec.securityGroupSelectorTerms": 4,
      "spec.securityGroupSelectorTerms.*.tags": 1,
      "spec.subnetSelectorTerms": 3,
      "spec.subnetSelectorTerms.*.tags": 1,
      "spec.tags": 6,
    });
  });
});
