import { afterAll, beforeAll, it } from "vitest";
import { stories } from "../stories/stories.ts";
import type { Story } from "../stories/story.ts";
import { realClient } from "./real-client.ts";
import { realCluster } from "./real-cluster.ts";
import { describeOnCluster } from "./shared.ts";
import { installCrds, sweep } from "./sweep.ts";

/** A few by default, as in CI; with `STORIES=all` every one that can be told in real time. */
const isSelected = ({ needsVirtualTime = false, isSmoke = false }: Story): boolean =>
  process.env["STORIES"] === "all" ? !needsVirtualTime : isSmoke;

const selected = stories.filter(isSelected);
const timeoutMs = 400_000;

describeOnCluster("stories on a real control plane", (connection) => {
  const { client, close } = realClient(connection);
  const seconds: (readonly [title: string, seconds: number])[] = [];

  beforeAll(async () => {
    await installCrds(connection);
    await sweep(connection, { client });
  });
  afterAll(() => {
    close();
    const lines = seconds.map(([title, taken]) => `  ${taken.toFixed(1).padStart(6)} s  ${title}`);
    console.log(["seconds of real time by story", ...lines].join("\n"));
  });

  for (const [at, { title, settings, volumes, run }] of selected.entries()) {
    it(title, { timeout: timeoutMs }, async () => {
      const namespace = `story-${at + 1}`;
      const begunAt = performance.now();
      const cluster = await realCluster({ connection, namespace, settings, ...(volumes && { volumes }) });
      try {
        await run(cluster);
      } finally {
        seconds.push([title, (performance.now() - begunAt) / 1_000]);
        await cluster.close();
        await sweep(connection, { client, namespace });
      }
    });
  }
});
