import { afterAll, beforeAll, expect, it } from "vitest";
import { convertManifests } from "../../src/api/conversion/manifests.ts";
import { customResourceDefinition } from "../../src/api/crd.ts";
import { karpenterKindOf, karpenterKindsOf } from "../../src/api/kinds/karpenter-kinds.ts";
import { seed } from "../conversion/fixtures.ts";
import { applyCrds, connect } from "./kube.ts";
import { describeOnCluster } from "./shared.ts";

const whole = ["M01", "M02", "M03", "M04", "M05", "M06", "M07", "M08", "M13", "M14", "M15", "M16"];

describeOnCluster("01 §7.9 the seeds' complete objects, converted, on a real kube-apiserver", (cluster) => {
  const kube = connect(cluster);
  beforeAll(() =>
    applyCrds(
      cluster,
      karpenterKindsOf("all").map((kind) => customResourceDefinition(kind, "all")),
    ),
  );
  afterAll(() => kube.close());

  it.each(whole)("%s is accepted, unknown fields forbidden", async (name) => {
    const { documents } = convertManifests([seed(name)], { mode: "lenient", provider: "all" });
    expect(documents).toHaveLength(1);
    for (const { object } of documents) {
      const { apiVersion, kind } = object as { apiVersion: string; kind: string };
      const plural = karpenterKindOf(apiVersion, kind)?.plural;
      const path = plural === undefined ? "/api/v1/namespaces/default/pods" : `/apis/${apiVersion}/${plural}`;
      const reply = await kube.request("POST", path, object, { query: { fieldValidation: "Strict", dryRun: "All" } });
      expect(reply.body).toMatchObject({ kind });
      expect(reply.status).toBe(201);
    }
  });
});
