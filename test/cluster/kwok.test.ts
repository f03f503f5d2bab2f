import { afterAll, beforeAll, expect, it } from "vitest";
import { kwokLabels, labels } from "../../src/api/labels.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { claimsOf, nodesOf, nothingLeft, podsOf, running } from "../stories/facts.ts";
import { kwokClass, pool } from "../stories/manifests.ts";
import { deployment } from "../stories/workloads.ts";
import { realClient } from "./real-client.ts";
import { realCluster } from "./real-cluster.ts";
import { describeOnCluster } from "./shared.ts";
import { installCrds, sweep } from "./sweep.ts";

const namespace = "kwok";

describeOnCluster("the KWOK provider on a real control plane", (connection) => {
  const { client, close } = realClient(connection);
  beforeAll(async () => {
    await installCrds(connection);
    await sweep(connection, { client });
  });
  afterAll(async () => {
    await sweep(connection, { client, namespace });
    close();
  });

  it("02:K-7 02:K-10 makes Nodes for pending pods, which the real scheduler binds, and takes them away", async () => {
    const cluster = await realCluster({ connection, namespace, instanceKind: "nodes" });
    await cluster.apply(kwokClass, pool(), deployment("web", { replicas: 6, cpu: "3", memory: "4Gi" }));
    await cluster.until("all pods run", running(cluster, "web", 6), 90);

    const claims = await claimsOf(cluster);
    const nodes = await nodesOf(cluster);
    expect(nodes.map(({ metadata }) => metadata.labels?.[labels.hostname]).sort()).toEqual(
      claims.map(({ metadata }) => metadata.name).sort(),
    );
    for (const { metadata, spec } of nodes) {
      expect(metadata.annotations).toMatchObject({ [kwokLabels.fakeNode]: "fake" });
      expect(spec?.providerID).toBe(`kwok://${metadata.name}`);
      expect(metadata.labels).toMatchObject({ [labels.registered]: "true", [labels.initialized]: "true" });
      expect(spec?.taints ?? []).toEqual([]);
    }
    const pods = await podsOf(cluster, "web");
    const names = nodes.map(({ metadata }) => metadata.name);
    expect(pods.every(({ spec }) => names.includes(spec.nodeName))).toBe(true);

    await cluster.remove(builtInTypes.Deployment, "web");
    for (const { metadata } of claims) await cluster.remove(karpenterTypes.NodeClaim, metadata.name ?? "");
    await cluster.until("all is given back", nothingLeft(cluster), 90);
    expect(cluster.log().filter(({ level }) => level === "error")).toEqual([]);
    await cluster.close();
  });
});
