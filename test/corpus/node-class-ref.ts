import { type Case, casesFor } from "./case.ts";

/** The reference of a pool or claim to its node class. (01 §1.2, NP18–NP20) */
export function nodeClassRefCases(kind: "NodePool" | "NodeClaim", path: string): readonly Case[] {
  const { accept, refuse, refuseTypes } = casesFor(kind);
  const fields = { group: "NP18", kind: "NP19", name: "NP20" };
  const wrong = { group: 1, kind: 1, name: 1 };
  return [
    accept("01 §1.2 nodeClassRef with a group", { [`${path}.group`]: "karpenter.k8s.aws" }),
    accept("01 §1.2 nodeClassRef to a class whose name is no name (fails at run time)", {
      [`${path}.name`]: "Not A Name/",
    }),
    accept("01 §1.2 nodeClassRef to a kind nobody serves (ignored at run time)", { [`${path}.kind`]: "no kind" }),
    refuse("01 §1.2 nodeClassRef with a slash in the group", { [`${path}.group`]: "karpenter.k8s.aws/v1" }),
    refuse("01 §9.1 nodeClassRef with apiVersion in place of group", {
      [path]: { apiVersion: "karpenter.k8s.aws/v1", kind: "EC2NodeClass", name: "default" },
    }),
    refuse("01 §9.1 no nodeClassRef", { [path]: undefined }),
    refuse("01 §0.1 null for nodeClassRef", { [path]: null }),
    ...Object.entries(fields).flatMap(([field, rule]) => [
      refuse(`01:${rule} nodeClassRef with an empty ${field}`, { [`${path}.${field}`]: "" }),
      refuse(`01 §1.2 nodeClassRef without a ${field}`, { [`${path}.${field}`]: undefined }),
      refuse(`01 §0.1 null for ${field} of nodeClassRef`, { [`${path}.${field}`]: null }),
    ]),
    ...refuseTypes("01 §1.2", {
      [path]: "default",
      ...Object.fromEntries(Object.entries(wrong).map(([field, value]) => [`${path}.${field}`, value])),
    }),
  ];
}
