import { describe, expect, it } from "vitest";
import { builtInTypes } from "../../src/kube/resources.ts";
import { isLongTier } from "../runs.ts";
import { embeddedCluster } from "../stories/embedded-cluster.ts";
import { stories } from "../stories/stories.ts";
import type { Story } from "../stories/story.ts";
import { apiWorld } from "../world/api-world.ts";
import { type RoleRule, restrictedClient, ruleText, simulatedCloudRules } from "./role-rules.ts";

/** That they are enough is seen in every story: each is told with them (test/stories/embedded-stories.ts). */
const rules = simulatedCloudRules();
/** Not used in stories: kube-dns is asked for when the AWS provider starts, and only KWOK without a cloud creates Nodes. */
const needsAnotherTest = (rule: RoleRule) => rule.namespace === "kube-system" || rule.verbs.join() === "create";
const required = rules.filter((rule) => !rule.isOptional);
const smoke = stories.filter(({ isSmoke }) => isSmoke);

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

it("03 §7.2 what no rule allows is refused", async () => {
  const { client } = apiWorld();
  const rule = { apiGroups: [""], resources: ["nodes"], verbs: ["list", "watch"], isOptional: false };
  const restricted = restrictedClient(client, [rule]);
  expect((await restricted.list(builtInTypes.Node)).items).toEqual([]);
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n" } };
  const key = { name: "n" };
  const merge = { kind: "merge", body: {} } as const;
  for (const attempt of [
    () => restricted.get(builtInTypes.Node, key),
    () => restricted.list(builtInTypes.Pod),
    () => restricted.create(builtInTypes.Node, node),
    () => restricted.update(builtInTypes.Node, node),
    () => restricted.patch(builtInTypes.Node, key, merge),
    () => restricted.delete(builtInTypes.Node, key),
    async () => restricted.watch(builtInTypes.Pod, { resourceVersion: "0", signal: new AbortController().signal }),
  ]) {
    await expect(attempt()).rejects.toMatchObject({ code: "forbidden" });
  }
});

describe.runIf(isLongTier)("03 §7.2 without a rule something breaks", () => {
  const ordered = [...smoke, ...stories.filter(({ isSmoke }) => !isSmoke)];
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
