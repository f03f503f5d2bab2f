import { describe, expect, it } from "vitest";
import { DeviceExpressions, deviceVariable } from "./device-expressions.ts";

const driver = "gpu.example.com";
const device = deviceVariable(driver, {
  name: "gpu-0",
  attributes: {
    model: { string: "a100" },
    "gpu.example.com/index": { int: 3 },
    "other.example.com/nvlink": { bool: true },
    driverVersion: { version: "12.4.1" },
  },
  capacity: { memory: { value: "40Gi" } },
});

describe("02:D-6 selectors of devices", () => {
  const expressions = new DeviceExpressions();

  it.each<[string, boolean]>([
    ['device.driver == "gpu.example.com"', true],
    ['device.attributes["gpu.example.com"].model == "a100"', true],
    ['device.attributes["gpu.example.com"].model in ["h100", "b200"]', false],
    ['device.attributes["gpu.example.com"].index >= 3', true],
    ['device.attributes["other.example.com"].nvlink', true],
    ['has(device.attributes["gpu.example.com"].model)', true],
    ['has(device.attributes["gpu.example.com"].colour)', false],
    ['has(device.attributes["nobody.example.com"].model)', false],
    [
      '!has(device.attributes["nobody.example.com"].model) || device.attributes["nobody.example.com"].model == "x"',
      true,
    ],
    ['["model", "index"].all(name, name in device.attributes["gpu.example.com"])', true],
    ['[1].all(x, has(device.attributes["gpu.example.com"].model) && x == 1)', true],
    ['"model" in device.attributes["gpu.example.com"]', true],
    ['device.capacity["gpu.example.com"].memory.compareTo(quantity("32Gi")) > 0', true],
    ['device.capacity["gpu.example.com"].memory.isLessThan(quantity("40Gi"))', false],
    ['device.capacity["gpu.example.com"].memory == quantity("40960Mi")', true],
    ['device.capacity["gpu.example.com"].memory.sub(quantity("39Gi")).asInteger() == 1073741824', true],
    ['device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("12.4.0"))', true],
    ['device.attributes["gpu.example.com"].driverVersion.major() == 12', true],
    ['device.attributes["gpu.example.com"].driverVersion.compareTo(semver("v12.4", true)) == 1', true],
    ['cel.bind(gpu, device.attributes["gpu.example.com"], gpu.model == "a100" && gpu.index < 4)', true],
    ['device.attributes["gpu.example.com"].?colour.orValue("red") == "red"', true],
    ['device.attributes["gpu.example.com"].model.matches("^a[0-9]+$")', true],
    ["device.allowMultipleAllocations", false],
  ])("%s: %s", (expression, expected) => {
    expect(expressions.problemOf(expression)).toBeUndefined();
    expect(expressions.matches(expression, device)).toBe(expected);
  });

  it.each(['device.attributes["gpu.example.com"].colour == "red"', 'device.capacity["nobody"].memory.sign() > 0'])(
    "an attribute that is not there is an error: %s",
    (expression) => {
      expect(expressions.problemOf(expression)).toBeUndefined();
      expect(expressions.matches(expression, device)).toMatchObject({
        problem: expect.stringContaining("No such key"),
      });
    },
  );

  it.each<[string, string]>([
    ["nope == 1", "Unknown variable"],
    ["device.driver ==", "Unexpected"],
    ["1 + 1", "must evaluate to bool or the unknown type, not int"],
  ])("is no selector: %s", (expression, problem) => {
    expect(expressions.problemOf(expression)).toContain(problem);
  });

  it("a selector that costs too much matches nothing", () => {
    const range = `[${Array.from({ length: 300 }, (_, at) => at).join()}]`;
    const expression = `${range}.all(a, ${range}.all(b, ${range}.all(c, a + b + c >= 0)))`;
    expect(expressions.matches(expression, device)).toEqual({ problem: "actual cost limit exceeded" });
  });

  it("an attribute without a value, or with a version that is none, is a problem of the device", () => {
    const broken = deviceVariable(driver, { name: "gpu-0", attributes: { v: { version: "12.4" } } });
    expect(broken).toEqual({ problem: "attribute v: unsupported attribute value" });
    expect(expressions.matches("true", broken)).toEqual(broken);
  });
});
