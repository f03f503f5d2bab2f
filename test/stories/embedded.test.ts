import { describe, it } from "vitest";
import { embeddedStage } from "./embedded.ts";
import { stories } from "./stories.ts";

describe("stories on the embedded control plane", () => {
  for (const { title, settings, volumes, play } of stories) {
    it(title, async () => {
      const stage = await embeddedStage({ settings, ...(volumes && { volumes }) });
      await play(stage);
      await stage.close();
    });
  }
});
