import { type Case, casesFor } from "./case.ts";

const { accept, refuse, acceptEach, refuseEach, acceptUpdate, refuseUpdate } = casesFor("KWOKNodeClass");

const owner = { apiVersion: "karpenter.sh/v1", kind: "NodePool", name: "default", uid: "1" };
const generated = (generateName: string): Record<string, unknown> => ({
  "metadata.name": undefined,
  "metadata.generateName": generateName,
});

const nameCases: readonly Case[] = [
  ...acceptEach("01 §0.1 name", "metadata.name", ["a", "1", "a-b.c-d", "a".repeat(64), "a".repeat(253)]),
  ...refuseEach("01 §0.1 name", "metadata.name", ["Abc", "a_b", "-a", "a-", "a..b", "a b", "ä", "a".repeat(254), 5]),
  refuse("01 §0.1 no name", { "metadata.name": undefined }),
  refuse("01 §0.1 an empty name", { "metadata.name": "" }),
  ...["abc-", "abc", "a--", "a".repeat(80)].map((prefix) =>
    accept(`01 §0.1 generateName ${prefix}`, generated(prefix)),
  ),
  ...["Abc-", "-", "a.", "-a", "a".repeat(254)].map((prefix) =>
    refuse(`01 §0.1 generateName ${prefix}`, generated(prefix)),
  ),
  refuse("01 §0.1 generateName is checked though it is not used", { "metadata.generateName": "Abc-" }),
  refuse("01 §0.1 generateName that is no text", { "metadata.generateName": 5 }),
  accept("01 §0.1 an empty name beside generateName", { "metadata.name": "", "metadata.generateName": "a-" }),
];

const mapCases: readonly Case[] = [
  ...acceptEach("01 §0.1 metadata.labels", "metadata.labels", [
    {},
    { a: "" },
    { "example.com/a": "B-1_c.d" },
    { a: "x".repeat(63) },
  ]),
  ...refuseEach("01 §0.1 metadata.labels", "metadata.labels", [
    { a: "b c" },
    { a: "x".repeat(64) },
    { a: "-b" },
    { a: 1 },
    { "a b": "c" },
    { "": "c" },
    { "Example.com/a": "b" },
    { "a/b/c": "d" },
    { [`${"a".repeat(64)}`]: "b" },
    { [`${"a".repeat(254)}/b`]: "c" },
    [],
    "a=b",
  ]),
  ...acceptEach("01 §0.1 metadata.annotations", "metadata.annotations", [
    { a: "any text: ü, {}\n" },
    { "Example.com/A": "capitals are fine here" },
    { a: "x".repeat(262143) },
  ]),
  ...refuseEach("01 §0.1 metadata.annotations", "metadata.annotations", [
    { "a b": "c" },
    { "": "c" },
    { a: 1 },
    { a: "x".repeat(262144) },
    { a: "é".repeat(131072) },
    [],
  ]),
  accept(
    "01 §0.1 metadata has no room for other fields",
    { "metadata.colour": "red" },
    { stored: { "metadata.colour": undefined } },
  ),
];

const listCases: readonly Case[] = [
  ...acceptEach("01 §0.1 finalizers", "metadata.finalizers", [
    [],
    ["karpenter.sh/termination"],
    ["bare"],
    ["a/b", "a/b"],
  ]),
  ...refuseEach("01 §0.1 finalizers", "metadata.finalizers", [["a b"], [""], [1], "a/b"]),
  accept("01 §0.1 an owner", { "metadata.ownerReferences": [owner] }),
  accept("01 §0.1 an owner of the core group", {
    "metadata.ownerReferences": [{ ...owner, apiVersion: "v1", kind: "Node" }],
  }),
  accept("01 §0.1 two owners, one of them the controller", {
    "metadata.ownerReferences": [owner, { ...owner, name: "b", controller: true }],
  }),
  refuse("01 §0.1 two controllers", {
    "metadata.ownerReferences": [
      { ...owner, controller: true },
      { ...owner, name: "b", controller: true },
    ],
  }),
  ...(["apiVersion", "kind", "name", "uid"] as const).flatMap((field) => [
    refuse(`01 §0.1 an owner with an empty ${field}`, { "metadata.ownerReferences": [{ ...owner, [field]: "" }] }),
    refuse(`01 §0.1 an owner with ${field} that is no text`, {
      "metadata.ownerReferences": [{ ...owner, [field]: 1 }],
    }),
  ]),
  refuse("01 §0.1 an owner that says nothing", { "metadata.ownerReferences": [{}] }),
  refuse("01 §0.1 an owner with two slashes in its apiVersion", {
    "metadata.ownerReferences": [{ ...owner, apiVersion: "a/b/c" }],
  }),
  refuse("01 §0.1 an Event for an owner", {
    "metadata.ownerReferences": [{ ...owner, apiVersion: "v1", kind: "Event" }],
  }),
];

const systemCases: readonly Case[] = [
  accept("01 §0.1 creationTimestamp null, as Go prints it", { "metadata.creationTimestamp": null }),
  ...refuseEach("01 §0.1 creationTimestamp", "metadata.creationTimestamp", ["yesterday", 5]),
  ...refuseEach("01 §0.1 generation", "metadata.generation", ["1", 1.5]),
  ...refuseEach("01 §0.1 managedFields", "metadata.managedFields", ["x"]),
  acceptUpdate("01 §0.1 labels change", {}, { "metadata.labels": { a: "b" } }),
  refuseUpdate("01 §0.1 labels change to bad ones", {}, { "metadata.labels": { a: "b c" } }),
];

/** What the API server asks of every object's metadata; one kind stands for all. */
export const metadataCases: readonly Case[] = [...nameCases, ...mapCases, ...listCases, ...systemCases];
