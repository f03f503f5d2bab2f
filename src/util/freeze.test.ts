import { expect, it } from "vitest";
import { deepFreeze } from "./freeze.ts";

it("freezes recursively and returns the same value", () => {
  const value = { list: [{ a: 1 }], map: JSON.parse('{"__proto__": {"b": 2}}') as Record<string, object> };
  expect(deepFreeze(value)).toBe(value);
  const parts = [
    value,
    value.list,
    value.list[0],
    value.map,
    Object.getOwnPropertyDescriptor(value.map, "__proto__")?.value,
  ];
  expect(parts.map((part) => Object.isFrozen(part))).toEqual([true, true, true, true, true]);
});

it("does not freeze what an object inherits", () => {
  const shared = { inner: {} };
  deepFreeze(Object.create(shared));
  expect(Object.isFrozen(shared.inner)).toBe(false);
});
