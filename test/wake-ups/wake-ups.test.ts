import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import { type Controller, reconcileController, triggerOn } from "../../src/kube/controller.ts";
import { builtInTypes } from "../../src/kube/resources.ts";
import { busyAccount } from "./busy-account.ts";
import { busyCluster } from "./busy-cluster.ts";
import { undeclaredReads, wakeUpTable } from "./wake-up-table.ts";

const page = new URL("../../docs/designs/wake-ups.md", import.meta.url);
const endOfText = "<!-- made by test/wake-ups: UPDATE_DOCS=1 npx vitest run --project tier1 test/wake-ups -->\n";

/** Reads pods whenever a Node changes, and is not woken by pods. */
const forgetful: Controller = reconcileController({
  name: "forgetful",
  triggers: [triggerOn<KubeObject>(builtInTypes.Node, ({ object }) => (object ? [object.metadata.name ?? ""] : []))],
  kinds: [builtInTypes.Pod],
  reconcile: async (_, { view }) => void view(builtInTypes.Pod).all(),
});

describe("docs/designs/wake-ups.md", () => {
  it("03 §8.1 what a controller reads wakes it, or it says how soon it looks again; the table says so", async () => {
    const { recorded, controllers } = await busyCluster([forgetful]);
    expect(undeclaredReads(controllers, recorded)).toEqual([
      "forgetful reads Pod, which neither wakes it nor is polled",
    ]);
    const ours = controllers.filter(({ name }) => name !== "forgetful");
    const [text = ""] = readFileSync(page, "utf8").split(endOfText);
    const account = await busyAccount();
    expect(undeclaredReads(account.controllers, account.recorded)).toEqual([]);
    const awsTable = wakeUpTable(account.controllers, account.recorded);
    const tables = `${wakeUpTable(ours, recorded)}\n\nThose of the AWS provider; there, the cloud is every call to AWS.\n\n${awsTable}\n`;
    const wanted = `${text}${endOfText}\n${tables}`;
    if (process.env["UPDATE_DOCS"] === "1") writeFileSync(page, wanted);
    expect(readFileSync(page, "utf8")).toBe(wanted);
  });
});
