import { expect, it } from "vitest";
import { amounts } from "../../../test/builders/instance-type.ts";
import { nodePool } from "../../../test/builders/node-pool.ts";
import { exceededLimitMessage } from "./limits.ts";

const { nodePool: pool } = nodePool().limit("cpu", "10").limit("memory", "20Gi").build([]);

it("02:H-4 a pool that has all it may have keeps its limits", () => {
  expect(exceededLimitMessage(pool, amounts({ cpu: "10", memory: "20Gi", nodes: "3" }))).toBeUndefined();
});

it("02:H-4 a pool that has more of one resource breaches its limit", () => {
  expect(exceededLimitMessage(pool, amounts({ cpu: "10500m" }))).toBe(
    "resource usage exceeds limit (resource-name=cpu, usage=10500m, limit=10)",
  );
});

it("02:H-4 what is not limited is not looked at", () => {
  expect(exceededLimitMessage(nodePool().build([]).nodePool, amounts({ cpu: "1000" }))).toBeUndefined();
});
