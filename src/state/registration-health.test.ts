import { describe, expect, it } from "vitest";
import { afterRegistration } from "../api/conditions/registration-window.ts";
import { RegistrationHealth } from "./registration-health.ts";

function having(...results: readonly boolean[]): RegistrationHealth {
  const health = new RegistrationHealth();
  for (const isRegistered of results) health.record("pool", { isRegistered });
  return health;
}

describe("registration health", () => {
  it.each([
    ["nothing yet", [], "unknown"],
    ["one success", [true], "healthy"],
    ["one failure", [false], "healthy"],
    ["two failures", [false, false], "unhealthy"],
    ["two failures and a success", [false, false, true], "unhealthy"],
    ["failures that are long past", [false, false, true, true, true], "healthy"],
  ] as const)("03:P-20 after %s", (_, results, health) => {
    expect(having(...results).health("pool")).toBe(health);
  });

  it("03:P-20 pools that are gone are forgotten", () => {
    const health = having(false, false);
    health.record("other", { isRegistered: true });
    health.retain(new Set(["other"]));
    expect([health.health("pool"), health.health("other")]).toEqual(["unknown", "healthy"]);
  });

  it("03:P-20 each pool has its own", () => {
    const health = having(false, false);
    health.record("other", { isRegistered: true });
    expect([health.health("pool"), health.health("other"), health.health("third")]).toEqual([
      "unhealthy",
      "healthy",
      "unknown",
    ]);
  });

  it("03:P-21 asking what one more would make of it does not change it", () => {
    const health = having(true);
    expect(afterRegistration(health.window("pool")).window).toEqual([true, true]);
    expect(health.window("pool")).toEqual([true]);
  });

  it("03:P-23 setting it replaces what was there", () => {
    const health = having(false, false);
    health.set("pool", [true]);
    expect(health.health("pool")).toBe("healthy");
    health.set("pool", []);
    expect(health.health("pool")).toBe("unknown");
  });
});
