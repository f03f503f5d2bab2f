import type { Case } from "./case.ts";
import { accept, atMost, choice, field, list, refuse, tagsOf } from "./ec2-table.ts";

/** Which image a node boots: family, alias, selector terms. (01:EC5–EC11, EC13) */

const alias = field("spec.amiSelectorTerms[0].alias");
const family = field("spec.amiFamily"); // beside the alias al2023@latest
const terms = field("spec.amiSelectorTerms", { "spec.amiFamily": "Custom" });

/** An alias spells a family in lower case; the family field has capitals. */
const families = {
  al2: "AL2",
  al2023: "AL2023",
  bottlerocket: "Bottlerocket",
  windows2019: "Windows2019",
  windows2022: "Windows2022",
  windows2025: "Windows2025",
} as const;

export const familyCases: readonly Case[] = [
  ...choice("spec.amiFamily", {
    of: [...Object.values(families), "Custom"],
    not: ["Ubuntu", "al2023", "CUSTOM", "Windows2016", ""],
    beside: { "spec.amiSelectorTerms": [{ id: "ami-1" }] },
  }),
  ...family.accepts({
    "01:EC13 an alias and no family": undefined,
    "01:EC13 an alias and null for the family": null,
  }),
  refuse("01:EC13 neither alias nor family", { "spec.amiSelectorTerms": [{ id: "ami-1" }] }),
  refuse("01:EC13 neither alias nor family, several terms", {
    "spec.amiSelectorTerms": [{ id: "ami-1" }, { name: "mine" }],
  }),
];

/** Each alias with its own family, with Custom, and with the five it does not belong to. */
export const aliasFamilyCases: readonly Case[] = Object.entries(families).flatMap(([name, own]) => {
  const both = (amiFamily: string) => ({
    "spec.amiFamily": amiFamily,
    "spec.amiSelectorTerms": [{ alias: `${name}@latest` }],
  });
  const others = Object.values(families).filter((one) => one !== own);
  return [
    accept(`01:EC13 alias ${name} with family ${own}`, both(own)),
    accept(`01:EC13 alias ${name} with family Custom`, both("Custom")),
    ...others.map((other) => refuse(`01:EC13 alias ${name} with family ${other}`, both(other))),
  ];
});

export const aliasCases: readonly Case[] = [
  ...alias.accepts({
    "01:EC9 al2@latest": "al2@latest",
    "01:EC9 al2 pinned": "al2@v20240625",
    "01:EC9 al2023@latest": "al2023@latest",
    "01:EC9 al2023 pinned": "al2023@v20240625",
    "01:EC9 bottlerocket@latest": "bottlerocket@latest",
    "01:EC9 bottlerocket pinned": "bottlerocket@1.10.0",
    "01:EC11 windows2019@latest": "windows2019@latest",
    "01:EC11 windows2022@latest": "windows2022@latest",
    "01:EC11 windows2025@latest": "windows2025@latest",
    "01:EC9 two separators": "al2023@v1@2",
    "01:EC9 a space for a version": "al2023@ ",
    // A dot of RE2 stands for every character but the newline.
    "01:EC9 a carriage return in the version": "al2023@a\rb",
    "01:EC9 a line separator in the version": "al2023@a\u2028b",
    "01 §1.6.1 an alias of 30 characters": `al2023@${"v".repeat(23)}`,
    "01 §1.6.1 an alias of 30 characters outside the basic plane": `al2023@${"😀".repeat(23)}`,
  }),
  ...alias.refuses({
    "01:EC9 no family": "@latest",
    "01:EC9 no separator": "al2023",
    "01:EC9 no version": "al2023@",
    "01:EC9 another separator": "al2023-latest",
    "01:EC9 an empty alias": "",
    "01:EC9 a newline for a version": "al2023@\n",
    "01:EC9 a dash in the family": "al-2023@latest",
    "01:EC10 an unknown family": "ubuntu@latest",
    "01:EC10 a family in capitals": "AL2023@latest",
    "01:EC10 custom is no family of an alias": "custom@latest",
    "01:EC11 windows2019 pinned": "windows2019@v1.0.0",
    "01:EC11 windows2022 pinned": "windows2022@v1.0.0",
    "01:EC11 windows2025 pinned": "windows2025@v1.0.0",
    "01:EC11 windows2022 with Latest": "windows2022@Latest",
    "01 §1.6.1 an alias of 31 characters": `al2023@${"v".repeat(24)}`,
  }),
];

const id = { id: "ami-1" };
const tags = { tags: { team: "a" } };
const name = { name: "mine" };
const owner = { owner: "123456789012" };
const ssmParameter = { ssmParameter: "/images/mine" };
const latest = { alias: "al2023@latest" };

export const imageTermCases: readonly Case[] = [
  ...terms.accepts({
    "01:EC5 images by alias": [latest],
    "01:EC5 images by tags": [tags],
    "01:EC5 images by id": [id],
    "01:EC5 images by name": [name],
    "01:EC5 images by name and owner": [{ ...name, ...owner }],
    "01:EC5 images by owner and tags": [{ ...owner, ...tags }],
    "01:EC5 images by SSM parameter": [ssmParameter],
    "01:EC5 images by tags that ask for nothing": [{ tags: {} }],
    "01:EC5 images by an empty name": [{ name: "" }],
    "01:EC5 images by name, owner and tags": [{ ...name, ...owner, ...tags }],
    "01:EC5 several terms": [id, tags, name, ssmParameter],
    "01:EC6 an id beside an SSM parameter": [{ ...id, ...ssmParameter }],
    "01:EC7 an alias beside an SSM parameter": [{ ...latest, ...ssmParameter }],
    "01:EC24 a tag with any value": [{ tags: { team: "*" } }],
    "01 §1.6.1 an image id anywhere in the text": [{ id: "my ami-1!" }],
    "01 §0.1 a null tag is dropped": [{ tags: { team: null } }],
  }),
  ...terms.refuses({
    "01 §1.6.1 no image terms": [],
    "01:EC5 an image term that says nothing": [{}],
    "01:EC5 an image term with null for tags": [{ tags: null }],
    "01:EC5 an owner alone": [owner],
    "01:EC5 the last image term says nothing": [tags, id, {}],
    "01:EC24 an image tag with an empty key": [{ tags: { "": "a" } }],
    "01:EC24 an image tag with an empty value": [{ tags: { team: "" } }],
    "01:EC24 the last image term has an empty tag value": [id, { tags: { team: "a" } }, { tags: { team: "" } }],
    "01:EC6 id and alias": [{ ...id, ...latest }],
    "01:EC6 id and tags": [{ ...id, ...tags }],
    "01:EC6 id and name": [{ ...id, ...name }],
    "01:EC6 id and owner": [{ ...id, ...owner }],
    "01:EC6 id and tags in one term of two": [name, { ...id, ...tags }],
    "01:EC7 alias and id": [{ ...latest, ...id }],
    "01:EC7 alias and tags": [{ ...latest, ...tags }],
    "01:EC7 alias and name": [{ ...latest, ...name }],
    "01:EC7 alias and owner": [{ ...latest, ...owner }],
    "01:EC8 alias beside another term": [latest, id],
    "01:EC8 alias after another term": [tags, latest],
    "01:EC8 two aliases": [latest, latest],
    "01 §1.6.1 an image id without its prefix": [{ id: "i-1" }],
    "01 §1.6.1 an image id in capitals": [{ id: "AMI-1" }],
    "01 §1.6.1 an empty image id": [{ id: "" }],
  }),
  ...atMost("spec.amiSelectorTerms", {
    most: 30,
    of: (count) => list(count, () => id),
    beside: { "spec.amiFamily": "AL2" },
  }),
  ...atMost("spec.amiSelectorTerms[0].tags", {
    most: 20,
    of: tagsOf,
    beside: { "spec.amiFamily": "AL2", "spec.amiSelectorTerms": [name] },
  }),
];
