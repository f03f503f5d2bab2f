import { describe, expect, it } from "vitest";
import { pod, refusal, types } from "../../../../test/contracts/api-objects.ts";
import { apiWorld } from "../../../../test/world/api-world.ts";

describe("field selectors (05 §3)", () => {
  const { client } = apiWorld();
  const names = async (fieldSelector: string) =>
    (await client.list(types.pods, { fieldSelector })).items.map(({ metadata }) => metadata.name);

  it("05 §1 finds the pods of a node that have not finished", async () => {
    await client.create(types.pods, pod("a", { nodeName: "n1" }));
    await client.create(types.pods, pod("b", { nodeName: "n1" }));
    await client.create(types.pods, pod("c", { nodeName: "n2" }));
    const body = { status: { phase: "Succeeded" } };
    const key = { name: "b", namespace: "default" };
    await client.patch(types.pods, key, { kind: "merge", body }, { subresource: "status" });
    expect(await names("spec.nodeName=n1")).toEqual(["a", "b"]);
    expect(await names("spec.nodeName=n1,status.phase!=Succeeded,status.phase!=Failed")).toEqual(["a"]);
    expect(await names("spec.nodeName==n2")).toEqual(["c"]);
    expect(await names("spec.nodeName!=n1")).toEqual(["c"]);
    expect(await names("metadata.name=a,metadata.namespace=other")).toEqual([]);
  });

  it("05 §3 follows pods that move to a node", async () => {
    await client.create(types.pods, pod("late"));
    expect(await names("spec.nodeName=")).toEqual(["late"]);
    const binding = { apiVersion: "v1", kind: "Binding", metadata: { name: "late", namespace: "default" } };
    const target = { kind: "Node", name: "n2" };
    await client.create(types.pods, { ...binding, target } as never, { subresource: "binding", name: "late" });
    expect(await names("spec.nodeName=")).toEqual([]);
    expect(await names("spec.nodeName=n2")).toEqual(["c", "late"]);
  });

  it("05 §3 treats a node without spec.unschedulable as schedulable", async () => {
    await client.create(types.nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "n" } });
    const select = (fieldSelector: string) => client.list(types.nodes, { fieldSelector });
    expect((await select("spec.unschedulable=false")).items).toHaveLength(1);
    expect((await select("spec.unschedulable=true")).items).toHaveLength(0);
  });

  it("05 §3 selects events by their involved object", async () => {
    const event = (name: string, uid: string) =>
      ({
        apiVersion: "v1",
        kind: "Event",
        metadata: { name, namespace: "default" },
        involvedObject: { kind: "Pod", name: "a", uid },
        reason: "Tested",
        message: "a message",
      }) as never;
    await client.create(types.events, event("one", "u1"));
    await client.create(types.events, event("two", "u2"));
    const { items } = await client.list(types.events, { fieldSelector: "involvedObject.uid=u2,reason=Tested" });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(["two"]);
    const [newer] = (await client.list(types.newEvents)).items;
    expect(newer).toMatchObject({ apiVersion: "events.k8s.io/v1", note: "a message", regarding: { uid: "u1" } });
  });

  it.each(["spec.image=x", "x", "=x", "metadata.name=a=b", "metadata.name=a\\b"])(
    "05:CP-S3 %s is a bad request",
    async (fieldSelector) => {
      expect((await refusal(client.list(types.pods, { fieldSelector }))).code).toBe("bad-request");
    },
  );
});
