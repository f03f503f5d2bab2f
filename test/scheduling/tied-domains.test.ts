import { describe, expect, it } from "vitest";
import { instanceType } from "../builders/instance-type.ts";
import { nodePool } from "../builders/node-pool.ts";
import { problem } from "../builders/problem.ts";
import { codes, typesPerNewNode } from "../builders/readers.ts";
import { solved, web } from "./solved.ts";

/** Fourteen labels with three values each; a type has the same value of all of them. */
const keys = Array.from({ length: 14 }, (_, index) => `example.com/key-${index}`);
const types = ["a", "b", "c"].map((value) =>
  keys.reduce((type, key) => type.label(key, value), instanceType(`type-${value}`).cpu(4)),
);
const pool = keys.reduce((built, key) => built.requires(key, "Exists"), nodePool());

function decide(cpu: string) {
  const spread = keys.reduce((built, key) => built.spread(key), web.cpu(cpu));
  return solved(
    problem()
      .types(...types)
      .pools(pool)
      .pod(spread),
  );
}

describe("spreading over many keys at once", () => {
  it("02 §12.1-3 finds domains that one instance type has, though others are tied with them", () => {
    expect(typesPerNewNode(decide("1")).map(({ length }) => length)).toEqual([1]);
  }, 2_000);

  it("02 §12.1-3 refuses a pod that fits nowhere without trying every combination", () => {
    expect(codes(decide("100"))).toEqual({ "p-0": "instance-types" });
  }, 2_000);
});
