import { describe, expect, it } from "vitest";
import { Reservations } from "../../src/core/scheduling/reservations.ts";
import { instanceType } from "../builders/instance-type.ts";
import { nodePool } from "../builders/node-pool.ts";
import { problem } from "../builders/problem.ts";
import { codes, messages, placesPerNewNode, podsPer, poolsOfNewNodes, sizesOfNewNodes } from "../builders/readers.ts";
import { large, small, solved, web } from "./solved.ts";

const waiting =
  "one or more instance types with compatible reserved offerings are available, but could not be reserved";
const held = (decision: ReturnType<typeof solved>) => decision.newNodes.map(({ reservations }) => reservations);
const one = small.reserved("cr-1", { zone: "a", capacity: 1 });
const apart = web.apart("host");

describe("reserved capacity", () => {
  it("02:Y-6 is used first, and named", () => {
    const decision = solved(problem().types(one).pod(web));
    expect(held(decision)).toEqual([["cr-1"]]);
    expect(placesPerNewNode(decision)).toEqual([["a/reserved"]]);
    expect(podsPer("reservation", decision)).toEqual({ "cr-1": 1 });
  });

  it("02:Y-3 is waited for rather than paid for otherwise, while some is available", () => {
    const decision = solved(problem().types(one).pods(2, apart));
    expect([held(decision), messages(decision)]).toEqual([[["cr-1"]], { "p-1": waiting }]);
    expect(codes(decision)).toEqual({ "p-1": "reserved-capacity" });
  });

  it("02:Y-2 that is used up is not waited for", () => {
    const none = small.reserved("cr-1", { zone: "a", capacity: 0 });
    const types = problem().types(none);
    expect(messages(solved(types.pod(web)))).toEqual({ "p-0": waiting });
    const gone = small.reserved("cr-1", { zone: "a", capacity: 0 }).soldOutIn("a", "reserved");
    expect(podsPer("capacity-type", solved(problem().types(gone).pod(web)))).toEqual({ any: 1 });
  });

  it("02:Y-4 takes many pods on one node", () => {
    const decision = solved(problem().types(one).pods(4, web));
    expect([sizesOfNewNodes(decision), held(decision)]).toEqual([[4], [["cr-1"]]]);
  });

  it("02:Y-1 is shared between pools", () => {
    const pools = problem().pools(nodePool("x"), nodePool("y")).types(one);
    const decision = solved(pools.pod(apart.on("pool", "x"), apart.on("pool", "y")));
    expect([held(decision), messages(decision)]).toEqual([[["cr-1"]], { "p-1": waiting }]);
  });

  it("02:Y-1 of different ids is not", () => {
    const pools = [nodePool("x").types(one), nodePool("y").types(small.reserved("cr-2", { zone: "a", capacity: 1 }))];
    const decision = solved(
      problem()
        .pools(...pools)
        .pod(apart.on("pool", "x"), apart.on("pool", "y")),
    );
    expect(held(decision)).toEqual([["cr-1"], ["cr-2"]]);
  });

  it("02:Y-1 where offerings disagree about how much is left, the least counts", () => {
    const types = problem().types(
      small.reserved("cr-1", { zone: "a", capacity: 5 }),
      large.reserved("cr-1", { zone: "a", capacity: 1 }),
    );
    const decision = solved(types.pods(2, apart));
    expect([held(decision), messages(decision)]).toEqual([[["cr-1"]], { "p-1": waiting }]);
  });

  it("02:Y-4 several of a pool are held as long as several will do", () => {
    const types = problem().types(one, large.reserved("cr-2", { zone: "a", capacity: 1 }));
    expect(held(solved(types.pod(web)))).toEqual([["cr-1", "cr-2"]]);
    expect(held(solved(types.pod(web.cpu("5"))))).toEqual([["cr-2"]]);
  });

  it("02:Y-4 what a node can no longer use is given back", () => {
    const types = problem().types(one, large.reserved("cr-2", { zone: "a", capacity: 1 }));
    // Two pods need the large one, and so the third finds the small one's reservation free.
    const decision = solved(types.pods(2, web.cpu("4")).pod(web.apart("host", { app: "web" })));
    expect(held(decision)).toEqual([["cr-2"], ["cr-1"]]);
  });

  it("02:Y-7 of two types with one node each takes three rounds for three pods", () => {
    const types = problem().types(one, small.reserved("cr-2", { zone: "b", capacity: 1 }));
    const decision = solved(types.pods(3, apart));
    expect([held(decision), Object.values(codes(decision))]).toEqual([
      [["cr-1", "cr-2"]],
      ["reserved-capacity", "reserved-capacity"],
    ]);
  });

  it("02:Q-22 that is in use does not send pods to a lighter pool", () => {
    const pools = [nodePool("heavy").weight(9).types(one), nodePool("light").types(small)];
    const decision = solved(
      problem()
        .pools(...pools)
        .pods(2, apart),
    );
    expect([poolsOfNewNodes(decision), messages(decision)]).toEqual([["heavy"], { "p-1": waiting }]);
  });

  it("02:Y-5 02:Q-5 that is in use does not make pods give up what they asked for first", () => {
    const either = apart.needs(["capacity-type", "In", "reserved"]).needs(["capacity-type", "In", "spot"]);
    const decision = solved(problem().types(one).pods(2, either));
    expect([sizesOfNewNodes(decision), messages(decision)]).toEqual([[1], { "p-1": waiting }]);
    expect(podsPer("capacity-type", solved(problem().types(small).pods(2, either)))).toEqual({ spot: 2 });
  });

  it("02:Y-5 an open node that would lose its reservation is passed over", () => {
    const types = problem().types(one, large.onlyOnDemand());
    const decision = solved(types.pod(web.cpu("3"), web.cpu("2")));
    expect([sizesOfNewNodes(decision), messages(decision)]).toEqual([[1], { "p-1": waiting }]);
  });

  it("02:Y-3 in a simulation is no reason to wait", () => {
    const decision = solved(problem().policy({ reservedMode: "Fallback" }).types(one).pods(2, apart));
    expect([held(decision), messages(decision)]).toEqual([[["cr-1"], []], {}]);
  });

  it("02:Y-1 switched off is offered like anything else, unreserved", () => {
    const decision = solved(problem().policy({ reservedCapacity: false }).types(one).pods(2, apart));
    expect([held(decision), messages(decision)]).toEqual([[[], []], {}]);
  });

  it("02:Y-2 a pod that wants none of it does not wait", () => {
    const decision = solved(problem().types(one).pods(2, apart.on("capacity-type", "spot")));
    expect([held(decision), podsPer("capacity-type", decision)]).toEqual([[[], []], { spot: 2 }]);
  });
});

describe("the ledger of reservations", () => {
  const ledger = () =>
    new Reservations([
      instanceType("a")
        .reserved("cr-1", { zone: "a", capacity: 2 })
        .reserved("cr-2", { zone: "b", capacity: 1 })
        .build(),
    ]);
  const ids = (...names: readonly string[]) => new Set(names);
  const [first, second, third] = [1, 2, 3];

  it("02:Y-1 knows nothing without reservations", () => {
    const empty = new Reservations([instanceType("a").build()]);
    expect([empty.isEmpty, ledger().isEmpty]).toEqual([true, false]);
  });

  it("02:Y-1 holds as many as there are", () => {
    const book = ledger();
    book.reserveExactly(first, ids("cr-1"));
    expect(book.canReserve(second, "cr-1")).toBe(true);
    book.reserveExactly(second, ids("cr-1"));
    expect([book.canReserve(third, "cr-1"), book.canReserve(third, "cr-2")]).toEqual([false, true]);
  });

  it("02:Y-1 holds one for a host once, however often it is asked", () => {
    const book = ledger();
    for (let times = 0; times < 3; times++) book.reserveExactly(first, ids("cr-1"));
    expect(book.canReserve(second, "cr-1")).toBe(true);
    expect(book.reservedBy(first)).toEqual(ids("cr-1"));
  });

  it("02:Y-2 what a host holds it can go on holding", () => {
    const book = ledger();
    book.reserveExactly(first, ids("cr-2"));
    expect([book.canReserve(first, "cr-2"), book.canReserve(second, "cr-2")]).toEqual([true, false]);
  });

  it("02:Y-4 gives back what is no longer held, once", () => {
    const book = ledger();
    book.reserveExactly(first, ids("cr-1", "cr-2"));
    book.reserveExactly(first, ids("cr-1"));
    book.reserveExactly(first, ids("cr-1"));
    expect(book.canReserve(second, "cr-2")).toBe(true);
    book.reserveExactly(second, ids("cr-2"));
    expect(book.canReserve(third, "cr-2")).toBe(false);
  });

  it("02:Y-4 goes round and round without losing count", () => {
    const book = ledger();
    for (let times = 0; times < 5; times++) {
      book.reserveExactly(first, ids("cr-1", "cr-2"));
      book.reserveExactly(second, ids("cr-1"));
      expect(book.canReserve(third, "cr-1")).toBe(false);
      book.reserveExactly(first, ids());
      book.reserveExactly(second, ids());
    }
    expect([book.canReserve(third, "cr-1"), book.canReserve(third, "cr-2")]).toEqual([true, true]);
  });

  it("02:Y-2 an unknown reservation cannot be held", () => {
    expect(ledger().canReserve(first, "cr-9")).toBe(false);
  });
});
