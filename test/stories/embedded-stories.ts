import { describe, it } from "vitest";
import { restrictedClient, simulatedCloudRules } from "../deploy/role-rules.ts";
import { isLongTier } from "../runs.ts";
import { embeddedCluster } from "./embedded-cluster.ts";
import type { Story } from "./story.ts";

/** Tells stories on the embedded control plane, each in a cluster of its own, to a controller that has the chart's roles. */
export function tellStories(name: string, stories: readonly Story[]): void {
  const rules = simulatedCloudRules();
  describe(`${name}, with the chart's roles (03 §7.2)`, () => {
    for (const [index, { title, settings, volumes, run, ...story }] of stories.entries()) {
      it.skipIf(!isLongTier && isLeftOut(story, index))(title, async () => {
        const cluster = await embeddedCluster({
          seed: title,
          settings,
          ...(volumes && { volumes }),
          asController: (client) => restrictedClient(client, rules),
        });
        await run(cluster);
        await cluster.close();
      });
    }
  });
}

/** Tier 1 has two minutes for everything: it tells every third story; `npm run test:whole` tells them all. */
function isLeftOut({ isLong = false, isSmoke = false }: Pick<Story, "isLong" | "isSmoke">, index: number): boolean {
  return isLong || (index % 3 !== 0 && !isSmoke);
}
