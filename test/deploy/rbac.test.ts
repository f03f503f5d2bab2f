import { describe, expect, it } from "vitest";
import { embeddedCluster } from "../stories/embedded-cluster.ts";
import { disruptionStories, stories } from "../stories/stories.ts";
import type { Story } from "../stories/story.ts";
import { controllerRules, type RoleRule, restrictedClient, ruleText } from "./role-rules.ts";

const isLong = process.env["LONG"] === "1";

/** The simulated cloud serves the node classes of both providers. */
const rules = unique([...controllerRules("aws"), ...controllerRules("kwok")]);
/** Not used in stories: kube-dns is asked for when the AWS provider starts, and only KWOK without a cloud creates Nodes. */
const needsAnotherTest = (rule: RoleRule) => rule.namespace === "kube-system" || rule.verbs.join() === "create";
const required = rules.filter((rule) => !rule.isOptional);
const all = [...stories, ...disruptionStories];
const smoke = all.filter(({ isSmoke }) => isSmoke);

async function runWith(allowed: readonly RoleRule[], { title, settings, volumes, run }: Story): Promise<void> {
  const cluster = await embeddedCluster({
    seed: title,
    settings,
    ...(volumes && { volumes }),
    asController: (client) => restrictedClient(client, allowed),
  });
  await run(cluster);
  await cluster.close();
}

describe("03 §7.2 the chart's roles are enough", () => {
  for (const story of isLong ? all : smoke) {
    it(story.title, () => runWith(rules, story));
  }
});

describe.runIf(isLong)("03 §7.2 without a rule something breaks", () => {
  const ordered = [...smoke, ...all.filter(({ isSmoke }) => !isSmoke)];
  for (const rule of required.filter((one) => !needsAnotherTest(one))) {
    it(ruleText(rule), async () => {
      const rest = rules.filter((one) => one !== rule);
      expect(await firstBroken(rest, ordered), "no story breaks").toBeDefined();
    });
  }
});

async function firstBroken(allowed: readonly RoleRule[], candidates: readonly Story[]): Promise<string | undefined> {
  for (const story of candidates) {
    try {
      await runWith(allowed, story);
    } catch {
      return story.title;
    }
  }
  return undefined;
}

function unique(list: readonly RoleRule[]): readonly RoleRule[] {
  return [...new Map(list.map((rule) => [JSON.stringify(rule), rule])).values()];
}
