import { describe, expect, it } from "vitest";
import type { KubeObject } from "../api/object.ts";
import { VirtualClock } from "../util/virtual-clock.ts";
import { type ObjectChange, View } from "./view.ts";

function object(name: string, version: number, { uid = name, owner = "" } = {}): KubeObject {
  const ownerReferences =
    owner === "" ? [] : [{ apiVersion: "v1", kind: "Pod", name: owner, uid: owner, controller: true }];
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "default", uid, resourceVersion: String(version), ownerReferences },
  };
}

function opened() {
  const clock = new VirtualClock();
  const errors: unknown[] = [];
  const view = new View<KubeObject>({ clock, onHandlerError: (error) => errors.push(error) });
  const told: string[] = [];
  view.subscribe(({ object: now, old }: ObjectChange<KubeObject>) => {
    const of = (one: KubeObject | undefined) =>
      one === undefined ? "-" : `${one.metadata.uid}@${one.metadata.resourceVersion}`;
    told.push(`${of(old)}>${of(now)}`);
  });
  return { view, clock, told, errors };
}

describe("View", () => {
  it("shows our own writes at once, and ignores older events of them", () => {
    const { view, told } = opened();
    view.onOwnWrite(object("a", 5));
    view.onWatchUpdate(object("a", 3));
    view.onWatchUpdate(object("a", 5));
    view.onWatchUpdate(object("a", 7));
    expect(told).toEqual(["->a@5", "a@5>a@7"]);
    expect(view.get("default/a")?.metadata.resourceVersion).toBe("7");
    expect(view.hasUnconfirmed).toBe(false);
  });

  it("an object we deleted does not come back with late events", () => {
    const { view, told } = opened();
    view.onOwnWrite(object("a", 5));
    view.onOwnDelete("default/a", "a");
    view.onWatchUpdate(object("a", 5));
    view.onWatchUpdate(object("a", 6));
    view.onWatchDelete(object("a", 6));
    expect(told).toEqual(["->a@5", "a@5>-"]);
    view.onWatchUpdate(object("a", 9, { uid: "another" }));
    expect(told.at(-1)).toBe("->another@9");
  });

  it("the response to a write that arrives after the deletion does not bring the object back", () => {
    const { view, told } = opened();
    view.onWatchUpdate(object("a", 5));
    view.onWatchDelete(object("a", 7)); // our write took off the last finalizer; the watch was quicker than the response
    view.onOwnWrite(object("a", 6));
    expect(told).toEqual(["->a@5", "a@5>-"]);
    expect(view.hasUnconfirmed).toBe(false);
    view.onOwnWrite(object("a", 9, { uid: "another" }));
    expect(told.at(-1)).toBe("->another@9");
  });

  it("a deletion that a later event contradicts is forgotten", () => {
    const { view } = opened();
    view.onWatchDelete(object("a", 7));
    view.onWatchUpdate(object("a", 8));
    view.onOwnWrite(object("a", 9));
    expect(view.get("default/a")?.metadata.resourceVersion).toBe("9");
  });

  it("another object of the same name replaces the first", () => {
    const { view, told } = opened();
    view.onWatchUpdate(object("a", 1));
    view.onWatchUpdate(object("a", 4, { uid: "b" }));
    view.onWatchDelete(object("a", 3));
    expect(told).toEqual(["->a@1", "a@1>-", "->b@4"]);
    expect(view.size).toBe(1);
  });

  it("knows which writes no watch event has confirmed", async () => {
    const { view, clock } = opened();
    view.onOwnWrite(object("a", 1));
    await clock.advance(10_000);
    view.onOwnWrite(object("b", 2));
    await clock.advance(25_000);
    expect(view.unconfirmedFor(30_000)).toEqual([{ key: "default/a", uid: "a", resourceVersion: "1" }]);
    view.onWatchUpdate(object("a", 1));
    expect(view.unconfirmedFor(0).map(({ key }) => key)).toEqual(["default/b"]);
  });

  describe("a look-up of an own write", () => {
    function lookedUp() {
      const set = opened();
      set.view.onOwnWrite(object("a", 5));
      const [write] = set.view.unconfirmedFor(0);
      if (write === undefined) throw new Error("the write is unconfirmed");
      return { ...set, write };
    }

    it("removes an object that is gone, and shows what changed", () => {
      const gone = lookedUp();
      gone.view.onLookUp(gone.write, undefined);
      expect(gone.told).toEqual(["->a@5", "a@5>-"]);
      const changed = lookedUp();
      changed.view.onLookUp(changed.write, object("a", 9));
      expect(changed.told).toEqual(["->a@5", "a@5>a@9"]);
      const same = lookedUp();
      same.view.onLookUp(same.write, object("a", 5));
      expect(same.told).toEqual(["->a@5"]);
      for (const { view } of [gone, changed, same]) expect(view.hasUnconfirmed).toBe(false);
    });

    it("does not bury an object that was created again meanwhile", () => {
      const { view, told, write } = lookedUp();
      view.onWatchUpdate(object("a", 8, { uid: "b" }));
      view.onLookUp(write, undefined);
      expect(told).toEqual(["->a@5", "a@5>-", "->b@8"]);
      view.onWatchUpdate(object("a", 9, { uid: "b" }));
      expect(told.at(-1)).toBe("b@8>b@9");
    });

    it("forgets no own write of an object that was created again meanwhile", () => {
      const { view, write } = lookedUp();
      view.onOwnWrite(object("a", 8, { uid: "b" }));
      view.onLookUp(write, undefined);
      expect(view.unconfirmedFor(0)).toEqual([{ key: "default/a", uid: "b", resourceVersion: "8" }]);
    });

    it("does not bring back what the watch has deleted or changed meanwhile", () => {
      const deleted = lookedUp();
      deleted.view.onWatchDelete(object("a", 7));
      deleted.view.onLookUp(deleted.write, object("a", 5));
      expect(deleted.told).toEqual(["->a@5", "a@5>-"]);
      const changed = lookedUp();
      changed.view.onWatchUpdate(object("a", 7));
      changed.view.onLookUp(changed.write, object("a", 6));
      expect(changed.told).toEqual(["->a@5", "a@5>a@7"]);
    });

    it("believes an older version: the server was restored from a backup", () => {
      const { view, told, write } = lookedUp();
      view.onLookUp(write, object("a", 3));
      expect(told).toEqual(["->a@5", "a@5>a@3"]);
    });
  });

  it("after a restore of the server believes older versions once, and objects we had deleted", () => {
    const { view, told } = opened();
    view.onWatchUpdate(object("a", 50));
    view.onOwnWrite(object("b", 60));
    view.onOwnDelete("default/b", "b");
    view.onRestored();
    view.onWatchUpdate(object("a", 20));
    view.onWatchUpdate(object("b", 10));
    view.onWatchUpdate(object("a", 15));
    expect(told.slice(3)).toEqual(["a@50>a@20", "->b@10"]);
    expect(view.get("default/a")?.metadata.resourceVersion).toBe("20");
  });

  it("lists objects by key, by owner and by index", () => {
    const { view } = opened();
    view.addIndex("first letter", ({ metadata }) => metadata.name?.[0]);
    for (const [name, owner] of [
      ["c", "x"],
      ["ab", ""],
      ["b", "x"],
      ["aa", ""],
    ] as const) {
      view.onWatchUpdate(object(name, 1, { owner }));
    }
    const names = (all: readonly KubeObject[]) => all.map(({ metadata }) => metadata.name);
    expect(names(view.all())).toEqual(["aa", "ab", "b", "c"]);
    expect(names(view.controlledBy("x"))).toEqual(["b", "c"]);
    expect(names(view.orphansIn("default"))).toEqual(["aa", "ab"]);
    expect(names(view.byIndex("first letter", "a"))).toEqual(["aa", "ab"]);
    view.onWatchUpdate(object("b", 2));
    expect(names(view.controlledBy("x"))).toEqual(["c"]);
    expect(view.controlledBy(undefined)).toEqual([]);
    expect(() => view.byIndex("colour", "red")).toThrow("no index colour");
  });

  it("an object with a new owner is found only under the new one", () => {
    const { view } = opened();
    view.onWatchUpdate(object("a", 1, { owner: "x" }));
    view.onWatchUpdate(object("b", 2, { owner: "x" }));
    view.onWatchUpdate(object("a", 3, { owner: "y" }));
    view.onWatchUpdate(object("b", 4, { owner: "x" }));
    const names = (owner: string) => view.controlledBy(owner).map(({ metadata }) => metadata.name);
    expect([names("x"), names("y"), view.orphansIn("default")]).toEqual([["b"], ["a"], []]);
    view.onWatchUpdate(object("a", 5));
    expect([names("y"), view.orphansIn("default").length]).toEqual([[], 1]);
    expect(view.controlledBy("x")[0]?.metadata.resourceVersion).toBe("4");
  });

  it("a handler that throws does not affect others", () => {
    const { view, told, errors } = opened();
    view.subscribe(() => {
      throw new Error("listener");
    });
    view.onWatchUpdate(object("a", 1));
    expect(told).toEqual(["->a@1"]);
    expect(errors).toHaveLength(1);
  });

  it("a first subscriber gets each change before the others, even if it subscribed last", () => {
    const view = new View<KubeObject>({ clock: new VirtualClock(), onHandlerError: () => {} });
    const order: string[] = [];
    view.subscribe(() => order.push("other"));
    view.subscribe(() => order.push("first"), { isFirst: true });
    view.onWatchUpdate(object("a", 1));
    view.onWatchDelete(object("a", 1));
    expect(order).toEqual(["first", "other", "first", "other"]);
  });

  describe("initial delivery with pauses", () => {
    function paused() {
      const clock = new VirtualClock();
      const view = new View<KubeObject>({ clock, pause: () => clock.sleep(1), onHandlerError: () => {} });
      for (const name of ["c", "a", "b"]) view.onWatchUpdate(object(name, 1));
      const told: string[] = [];
      const stop = view.subscribe(
        ({ object: now, old }) => told.push(`${old?.metadata.name ?? ""}>${now?.metadata.name ?? ""}`),
        { onInitialDelivered: () => told.push("all") },
      );
      expect(told).toEqual([">a"]); // now it pauses
      return { view, told, stop, settled: () => clock.advance(10) };
    }

    it("a subscriber gets everything by key, and then the notice that it is complete", async () => {
      const { told, settled } = paused();
      await settled();
      expect(told).toEqual([">a", ">b", ">c", "all"]);
    });

    it("an object that changes before its turn is delivered once, as new", async () => {
      const { view, told, settled } = paused();
      view.onWatchUpdate(object("c", 2));
      view.onWatchUpdate(object("c", 3));
      view.onWatchUpdate(object("d", 4));
      view.onWatchUpdate(object("a", 5));
      await settled();
      expect(told).toEqual([">a", ">c", "c>c", ">d", "a>a", ">b", "all"]);
    });

    it("an object deleted before its turn is not delivered, unless it is created again", async () => {
      const { view, told, settled } = paused();
      view.onWatchDelete(object("b", 1));
      view.onWatchDelete(object("c", 1));
      view.onWatchUpdate(object("c", 7, { uid: "another" }));
      await settled();
      expect(told).toEqual([">a", ">c", "all"]);
    });

    it("nothing is delivered after unsubscribing", async () => {
      const { told, stop, settled } = paused();
      stop();
      await settled();
      expect(told).toEqual([">a"]);
    });
  });
});
