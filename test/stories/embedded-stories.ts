import { describe, it } from "vitest";
import { isLongTier } from "../runs.ts";
import { embeddedCluster } from "./embedded-cluster.ts";
import type { Story } from "./story.ts";

/** Tells stories on the embedded control plane, each in a cluster of its own. */
export function tellStories(name: string, stories: readonly Story[]): void {
  describe(name, () => {
    for (const { title, settings, volumes, run, isLong = false } of stories) {
      it.skipIf(isLong && !isLongTier)(title, async () => {
        const cluster = await embeddedCluster({ seed: title, settings, ...(volumes && { volumes }) });
        await run(cluster);
        await cluster.close();
      });
    }
  });
}
