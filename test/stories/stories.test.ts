import { describe, it } from "vitest";
import { embeddedCluster } from "./embedded-cluster.ts";
import { stories } from "./stories.ts";

describe("stories on the embedded control plane", () => {
  for (const { title, settings, volumes, run } of stories) {
    it(title, async () => {
      const cluster = await embeddedCluster({ seed: title, settings, ...(volumes && { volumes }) });
      await run(cluster);
      await cluster.close();
    });
  }
});
