import { describe, expect, it } from "vitest";
import type { LogLevel } from "../util/logger.ts";
import { jsonLogger } from "./json-logger.ts";

function logged(level: LogLevel = "info") {
  const lines: string[] = [];
  const clock = { time: Date.parse("2026-01-01T12:00:03.250Z"), now: () => clock.time };
  const log = jsonLogger({ level, clock, commit: "abc1234", destination: { write: (line) => lines.push(line) } });
  return { log, lines, clock };
}

describe("the log", () => {
  it("03 §6.3 is one JSON object per line, keys in order", () => {
    const { log, lines } = logged();
    log.with({ controller: "nodeclaim.lifecycle" }).info("launched nodeclaim", { NodeClaim: { name: "a" }, zone: "z" });
    expect(lines).toEqual([
      '{"level":"INFO","time":"2026-01-01T12:00:03.250Z","logger":"controller","message":"launched nodeclaim",' +
        '"commit":"abc1234","controller":"nodeclaim.lifecycle","NodeClaim":{"name":"a"},"zone":"z"}\n',
    ]);
  });

  it("03 §6.3 writes errors with their causes, as text", () => {
    const { log, lines } = logged();
    const error = new Error("deleting instance of a", { cause: new Error("throttled") });
    log.error("failed launching nodeclaim", { error });
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: "ERROR", error: "deleting instance of a: throttled" });
  });

  it("03 §6.4 writes lines of its level and above", () => {
    const said = (level: LogLevel): number => {
      const { log, lines } = logged(level);
      log.debug("d");
      log.info("i");
      log.error("e");
      return lines.length;
    };
    expect([said("debug"), said("info"), said("error")]).toEqual([3, 2, 1]);
  });

  it("03 §6.3 passes a hundred equal lines per second, then one in a hundred", () => {
    const { log, lines, clock } = logged();
    for (let count = 0; count < 400; count++) log.info("again", { count });
    expect(lines).toHaveLength(100 + 3);
    log.info("another");
    expect(lines).toHaveLength(104);
    clock.time += 1_000;
    log.info("again");
    expect(lines).toHaveLength(105);
  });

  it("survives values that cannot be written as JSON", () => {
    const { log, lines } = logged();
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    log.info("odd", { loop, big: 12n });
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ message: "odd" });
  });
});
