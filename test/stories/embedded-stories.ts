import { describe, it } from "vitest";
import { restrictedClient, simulatedCloudRules } from "../deploy/role-rules.ts";
import { isLongTier } from "../runs.ts";
import { embeddedCluster } from "./embedded-cluster.ts";
import type { Story } from "./story.ts";

/** Tells stories on the embedded control plane, each in a cluster of its own, to a controller that has the chart's roles. */
export function tellStories(name: string, stories: readonly Story[]): void {
  const rules = simulatedCloudRules();
  describe(`${name}, with the chart's roles (03 §7.2)`, () => {
    for (const { title, settings, volumes, run, isLong = false } of stories) {
      it.skipIf(isLong && !isLongTier)(title, async () => {
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
