import { describe, expect, it } from "vitest";
import { labels } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { storages } from "../world/stored-objects.ts";
import { ClusterRecord } from "./cluster-record.ts";
import { DisruptionChecks } from "./disruption-checks.ts";

const lastTransitionTime = "2026-01-01T00:00:00Z";
const start = Date.parse(lastTransitionTime);

/** A pool of four nodes, each with a claim, an hour after anything changed. */
function watched(budget: string) {
  let now = start;
  const complaints: string[] = [];
  const record = new ClusterRecord({ now: () => now });
  new DisruptionChecks({ record, cloud: {} as never, now: () => now, complain: (what) => void complaints.push(what) });
  const put = (storage: string, object: KubeObject) =>
    void record.append({ op: "put", storage, key: object.metadata.name ?? "", object } as never);
  const claim = (name: string, changes: { readonly reason?: string; readonly deleted?: string } = {}) => {
    const conditions = [
      { type: "Initialized", status: "True", lastTransitionTime },
      ...(changes.reason
        ? [{ type: "DisruptionReason", status: "True", reason: changes.reason, lastTransitionTime }]
        : []),
    ];
    const metadata = {
      name,
      uid: name,
      labels: { [labels.nodePool]: "p" },
      ...(changes.deleted && { deletionTimestamp: changes.deleted }),
    };
    put(storages.claims, { apiVersion: "v1", kind: "NodeClaim", metadata, status: { conditions, nodeName: name } });
  };
  const disruption = { budgets: [{ nodes: budget }] };
  put(storages.pools, {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name: "p", generation: 1 },
    spec: { disruption },
  });
  for (const name of ["a", "b", "c", "d"]) claim(name);
  now += 3_600_000;
  const pod = (annotations: Readonly<Record<string, string>>) =>
    put(storages.pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web", namespace: "default", annotations },
      spec: { nodeName: "a", containers: [] },
      status: { phase: "Running", startTime: lastTransitionTime },
    });
  return { complaints, claim, pod };
}

describe("05:CP-T4 what the fuzz run notices about nodes that go of free will", () => {
  it("03:D-24 more nodes than the budget allows", () => {
    const { complaints, claim } = watched("50%");
    claim("a", { reason: "Empty" });
    claim("b", { reason: "Drifted" });
    expect(complaints).toEqual([]);
    claim("c", { reason: "Underutilized" });
    expect(complaints).toEqual(["Underutilized c: pool p of 4 may lose 2, but loses a, b, c"]);
  });

  it("03:D-27 nodes that go for other reasons use up the budget", () => {
    const { complaints, claim } = watched("1");
    claim("a", { deleted: lastTransitionTime });
    claim("b", { reason: "Empty" });
    expect(complaints).toHaveLength(1);
  });

  it("03:D-17 a protected pod, and 03:D-29a any pod on an empty node", () => {
    const first = watched("100%");
    first.pod({ "karpenter.sh/do-not-disrupt": "true" });
    first.claim("a", { reason: "Underutilized" });
    expect(first.complaints).toEqual(["Underutilized a though Pod default/web is protected"]);
    const second = watched("100%");
    second.pod({});
    second.claim("a", { reason: "Empty" });
    expect(second.complaints).toEqual(["Empty a though Pod default/web runs there"]);
  });
});
