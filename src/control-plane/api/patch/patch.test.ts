import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../test/runs.ts";
import { isSameJson } from "../../../api/json.ts";
import { isRecord } from "../../../api/object.ts";
import { jsonPatch } from "./json-patch.ts";
import { mergePatch } from "./merge-patch.ts";

const key = fc.constantFrom("a", "b", "c", "a/b", "m~n", "__proto__", "constructor", "0");
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(0, 1, "x", true),
    fc.array(tie("json"), { maxLength: 3 }),
    fc.array(fc.tuple(key, tie("json")), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  ),
}));

describe("merge patches (05 §3)", () => {
  /** The patch that turns one value into the other. */
  const difference = (from: unknown, to: unknown): unknown => {
    if (!isRecord(from) || !isRecord(to)) return to;
    const entries: (readonly [string, unknown])[] = [];
    for (const name of Object.keys(from)) if (!Object.hasOwn(to, name)) entries.push([name, null]);
    for (const name of Object.keys(to)) {
      const before = Object.hasOwn(from, name) ? from[name] : undefined;
      // An object that replaces another type is merged into an empty object.
      if (!isSameJson(before, to[name])) entries.push([name, difference(before, to[name])]);
    }
    return Object.fromEntries(entries);
  };

  it("turns any value into any other, and does not change its inputs", () => {
    const property = fc.property(json, json, (from, to) => {
      const before = JSON.stringify(from);
      expect(mergePatch(from, difference(from, to))).toEqual(to);
      expect(JSON.stringify(from)).toBe(before);
    });
    fc.assert(property, { numRuns: runs(50_000) });
  });
});

describe("JSON patches (05 §3)", () => {
  const pointerStep = (step: string | number) => String(step).replaceAll("~", "~0").replaceAll("/", "~1");
  const difference = (from: unknown, to: unknown, path = ""): { op: string; path: string; value?: unknown }[] => {
    if (isRecord(from) && isRecord(to)) {
      const removed = Object.keys(from).filter((name) => !Object.hasOwn(to, name));
      return [
        ...removed.map((name) => ({ op: "remove", path: `${path}/${pointerStep(name)}` })),
        ...Object.keys(to).flatMap((name) => {
          const at = `${path}/${pointerStep(name)}`;
          return Object.hasOwn(from, name)
            ? difference(from[name], to[name], at)
            : [{ op: "add", path: at, value: to[name] }];
        }),
      ];
    }
    if (Array.isArray(from) && Array.isArray(to)) {
      const removed = from.map((_, index) => ({ op: "remove", path: `${path}/${from.length - 1 - index}` }));
      return [...removed, ...to.map((value) => ({ op: "add", path: `${path}/-`, value: value as unknown }))];
    }
    return isSameJson(from, to) ? [] : [{ op: "replace", path, value: to }];
  };

  it("turns any value into any other", () => {
    const property = fc.property(json, json, (from, to) => {
      expect(jsonPatch(from, difference(from, to))).toEqual(to);
    });
    fc.assert(property, { numRuns: runs(50_000) });
  });

  it("moves, copies and tests", () => {
    const operations = [
      { op: "test", path: "/a/0", value: 1 },
      { op: "copy", from: "/a/0", path: "/c" },
      { op: "move", from: "/a/1", path: "/b/x" },
      { op: "add", path: "/a/0", value: 0 },
    ];
    expect(jsonPatch({ a: [1, 2], b: {} }, operations)).toEqual({ a: [0, 1], b: { x: 2 }, c: 1 });
  });

  it("05:CP-S3 tests a key that is not there for null, as Kubernetes does", () => {
    const operations = [
      { op: "test", path: "/missing", value: null },
      { op: "add", path: "/missing", value: 1 },
    ];
    expect(jsonPatch({ a: {} }, operations)).toEqual({ a: {}, missing: 1 });
  });

  it.each([
    [{ op: "test", path: "/missing", value: 1 }, "invalid"],
    [{ op: "test", path: "/missing/deeper", value: null }, "invalid"],
    [{ op: "replace", path: "/missing", value: 1 }, "invalid"],
    [{ op: "remove", path: "/a/9" }, "invalid"],
    [{ op: "add", path: "/a/01", value: 1 }, "invalid"],
    [{ op: "test", path: "/b", value: 2 }, "invalid"],
    [{ op: "move", from: "/b", path: "/b/c" }, "invalid"],
    [{ op: "add", path: "b", value: 1 }, "bad-request"],
    [{ op: "add", path: "/b" }, "bad-request"],
    [{ op: "grow", path: "/b" }, "bad-request"],
    [7, "bad-request"],
  ])("05:CP-S3 refuses %j", (operation, code) => {
    const patch = () => jsonPatch({ a: [1], b: 1 }, [operation]);
    expect(patch).toThrow(expect.objectContaining({ code }) as unknown as Error);
  });
});
