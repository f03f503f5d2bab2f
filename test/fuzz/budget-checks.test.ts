import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import { StoredObjects, storages } from "../world/stored-objects.ts";
import { BudgetChecks, type StoredPod } from "./budget-checks.ts";

/** Three pods, of which the budget wants two; it counted them at revision 10. */
function world() {
  const record = new StoredObjects();
  const complaints: string[] = [];
  const put = (storage: string, object: object, revision: number) => {
    const { metadata } = object as KubeObject;
    const stored = { ...object, metadata: { ...metadata, resourceVersion: String(revision) } } as KubeObject;
    void record.append({ op: "put", revision, storage, key: `default/${metadata.name}`, object: stored });
  };
  const pod = (name: string): StoredPod => ({
    ...{ apiVersion: "v1", kind: "Pod", spec: { containers: [] } },
    metadata: { name, namespace: "default", uid: name, labels: { app: "web" } },
    status: { conditions: [{ type: "Ready", status: "True" }] },
  });
  for (const name of ["a", "b", "c"]) put(storages.pods, pod(name), 5);
  const selector = { matchLabels: { app: "web" } };
  const metadata = { name: "web", namespace: "default" };
  put(storages.budgets, { metadata, spec: { selector }, status: { desiredHealthy: 2 } }, 10);
  const remove = (name: string, revision: number) => {
    const metadata = { ...pod(name).metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
    put(storages.pods, { ...pod(name), metadata }, revision);
  };
  const checks = new BudgetChecks(record, (what) => complaints.push(what));
  const evict = (name: string, revision: number) => {
    const check = checks.evicting(pod(name));
    remove(name, revision);
    check();
  };
  return { complaints, remove, evict };
}

describe("BudgetChecks", () => {
  it("complains of an eviction that leaves too few healthy pods", () => {
    const { complaints, evict } = world();
    evict("a", 11);
    expect(complaints).toEqual([]);
    evict("b", 12);
    expect(complaints).toEqual(["evicted default/b: budget web wants 2, has 1"]);
  });

  it("does not miss pods that others deleted after the budget counted", () => {
    const { complaints, remove, evict } = world();
    remove("a", 11);
    evict("b", 12);
    expect(complaints).toEqual([]);
  });

  it("misses pods that others deleted before the budget counted", () => {
    const { complaints, remove, evict } = world();
    remove("a", 9);
    evict("b", 12);
    expect(complaints).toEqual(["evicted default/b: budget web wants 2, has 1"]);
  });
});
