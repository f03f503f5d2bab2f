import { afterAll, beforeAll, it } from "vitest";
import { goOn, takeOver } from "../operator/take-over.ts";
import { leaveBehind } from "../operator/upstream-leftovers.ts";
import { realClient } from "./real-client.ts";
import { realCluster } from "./real-cluster.ts";
import { describeOnCluster } from "./shared.ts";
import { installCrds, sweep } from "./sweep.ts";

const namespace = "take-over";

describeOnCluster("taking over on a real control plane", (connection) => {
  const { client, close } = realClient(connection);
  beforeAll(async () => {
    await installCrds(connection);
    await sweep(connection, { client });
  });
  afterAll(async () => {
    await sweep(connection, { client, namespace });
    close();
  });

  it("01 §6.3 03 §6.5 takes over from the Go implementation, changes nothing, and goes on", async () => {
    const settings = { minValuesPolicy: "BestEffort" } as const;
    const cluster = await realCluster({ connection, namespace, instanceKind: "nodes", settings, before: leaveBehind });
    await takeOver(cluster, { quietSeconds: 30 });
    await goOn(cluster);
    await cluster.close();
  });
});
