import { expect, it } from "vitest";
import { isOlderVersion } from "./resource-version.ts";

it.each([
  ["9", "10", true],
  ["10", "9", false],
  ["10", "10", false],
  ["0009", "10", true],
  ["9007199254740992", "9007199254740993", true],
  ["abc", "10", false],
  ["9", "abc", false],
  [undefined, "10", false],
  ["9", undefined, false],
])("%s is older than %s: %s", (version, than, isOlder) => {
  expect(isOlderVersion(version, than)).toBe(isOlder);
});
