import { expect, it } from "vitest";
import { eventExpiryController } from "../../../../src/control-plane/controllers/garbage-collection/event-expiry.ts";
import { builtInTypes } from "../../../../src/kube/resources.ts";
import { testWorld } from "../../../world/test-world.ts";

const eventNamed = (name: string, more: object = {}) => ({
  apiVersion: "v1",
  kind: "Event",
  metadata: { name, namespace: "default" },
  involvedObject: { kind: "Node", name: "a" },
  ...more,
});

it("05:CP-L8 keeps Events for an hour after they were last seen, as a kube-apiserver does", async () => {
  const world = await testWorld({ hasCrds: false });
  world.startControllers({ controllers: [eventExpiryController] });
  await world.create(eventNamed("once"), eventNamed("again"));
  await world.pass(1_800);
  const patch = { kind: "merge", body: { count: 2, lastTimestamp: "2026-01-01T00:30:00Z" } } as const;
  await world.client.patch(builtInTypes.Event, { name: "again", namespace: "default" }, patch);
  const left = async () => (await world.list(builtInTypes.Event)).map(({ metadata }) => metadata.name);
  await world.pass(1_799);
  expect(await left()).toEqual(["again", "once"]);
  await world.pass(2);
  expect(await left()).toEqual(["again"]);
  await world.pass(1_800);
  expect(await left()).toEqual([]);
  await world.stop();
});
