import type { Environment } from "@marcbachmann/cel-js";
import { Quantity } from "../../util/quantity.ts";
import { Semver } from "../../util/semver.ts";
import { CelPrograms } from "../structural/cel.ts";
import type { DeviceAttribute, SliceDevice } from "./device-objects.ts";

/** What a selector may cost, as in Kubernetes. */
const maxSelectorCost = 1_000_000;

/** Whether a device matches, or why nobody can tell. */
export type DeviceMatch = boolean | { readonly problem: string };

/** CEL expressions about one device, with Kubernetes' types for quantities and semantic versions. (02:D-6) */
export class DeviceExpressions {
  readonly #programs = new CelPrograms(deviceDialect);

  /** Why an expression is no selector. */
  problemOf(expression: string): string | undefined {
    return this.#programs.conditionProblem(expression);
  }

  matches(expression: string, device: DeviceVariable): DeviceMatch {
    if ("problem" in device) return device;
    const { outcome } = this.#programs.evaluate(expression, { device: device.value }, maxSelectorCost);
    if (outcome.kind === "over-budget") return { problem: "actual cost limit exceeded" };
    if (outcome.kind === "error") return { problem: outcome.because };
    if (typeof outcome.value === "boolean") return outcome.value;
    return { problem: `result of type ${typeof outcome.value} is not a boolean` };
  }
}

/** The variable `device` of a selector. */
export type DeviceVariable = { readonly value: unknown } | { readonly problem: string };

/** Names without a domain are in that of the driver. */
export function deviceVariable(driver: string, device: SliceDevice): DeviceVariable {
  const attributes = new DomainMaps(driver);
  for (const [name, attribute] of Object.entries(device.attributes ?? {})) {
    const value = attributeValue(attribute);
    if (value === undefined) return { problem: `attribute ${name}: unsupported attribute value` };
    attributes.add(name, value);
  }
  const capacity = new DomainMaps(driver);
  for (const [name, { value }] of Object.entries(device.capacity ?? {})) {
    const quantity = Quantity.tryParse(value);
    if (quantity === undefined) return { problem: `capacity ${name}: not a quantity` };
    capacity.add(name, quantity);
  }
  const fields = {
    driver,
    allowMultipleAllocations: device.allowMultipleAllocations ?? false,
    attributes: attributes.map,
    capacity: capacity.map,
  };
  return { value: new Map(Object.entries(fields)) };
}

/** Maps by domain; a domain that is not there is an empty map, so that selectors may ask for any. */
class DomainMaps {
  readonly map = new Map<string, ReadonlyMap<string, unknown>>();
  readonly #byDomain = new Map<string, Map<string, unknown>>();
  readonly #driver: string;

  constructor(driver: string) {
    this.#driver = driver;
    // The expression library accepts nothing but a plain Map, so one method of this one is replaced.
    this.map.get = (domain) => this.#byDomain.get(domain) ?? new Map<string, unknown>();
  }

  add(name: string, value: unknown): void {
    const slash = name.indexOf("/");
    const domain = slash < 0 ? this.#driver : name.slice(0, slash);
    const known = this.#byDomain.get(domain) ?? new Map<string, unknown>();
    this.#byDomain.set(domain, known.set(name.slice(slash + 1), value));
    this.map.set(domain, known);
  }
}

function attributeValue({ int, bool, string, version }: DeviceAttribute): unknown {
  if (int !== undefined) return BigInt(int);
  if (bool !== undefined) return bool;
  if (string !== undefined) return string;
  return version === undefined ? undefined : Semver.parse(version);
}

function deviceDialect(environment: Environment): Environment {
  const quantityOf = (text: string): Quantity => Quantity.parse(text);
  const semverOf = (text: string, isTolerant = false): Semver => {
    const version = isTolerant ? Semver.parseTolerantly(text) : Semver.parse(text);
    if (version === undefined) throw new Error(`${JSON.stringify(text)} is not a semantic version`);
    return version;
  };
  const whole = (amount: bigint): Quantity => Quantity.of(amount);
  return environment
    .registerType("Quantity", { ctor: Quantity, fields: {} })
    .registerType("Semver", { ctor: Semver, fields: {} })
    .registerVariable("device", "dyn")
    .registerFunction("quantity(string): Quantity", quantityOf)
    .registerFunction("isQuantity(string): bool", (text: string) => Quantity.tryParse(text) !== undefined)
    .registerFunction("Quantity.compareTo(Quantity): int", (a: Quantity, b: Quantity) => BigInt(a.cmp(b)))
    .registerFunction("Quantity.isGreaterThan(Quantity): bool", (a: Quantity, b: Quantity) => a.cmp(b) > 0)
    .registerFunction("Quantity.isLessThan(Quantity): bool", (a: Quantity, b: Quantity) => a.cmp(b) < 0)
    .registerFunction("Quantity.sign(): int", (a: Quantity) => BigInt(a.sign()))
    .registerFunction("Quantity.add(Quantity): Quantity", (a: Quantity, b: Quantity) => a.add(b))
    .registerFunction("Quantity.add(int): Quantity", (a: Quantity, b: bigint) => a.add(whole(b)))
    .registerFunction("Quantity.sub(Quantity): Quantity", (a: Quantity, b: Quantity) => a.sub(b))
    .registerFunction("Quantity.sub(int): Quantity", (a: Quantity, b: bigint) => a.sub(whole(b)))
    .registerFunction("Quantity.isInteger(): bool", (a: Quantity) => a.equals(whole(a.value())))
    .registerFunction("Quantity.asInteger(): int", (a: Quantity) => wholeAmount(a))
    .registerFunction("Quantity.asApproximateFloat(): double", (a: Quantity) => a.toNumber())
    .registerOperator("Quantity == Quantity", (a: Quantity, b: Quantity) => a.equals(b))
    .registerFunction("semver(string): Semver", (text: string) => semverOf(text))
    .registerFunction("semver(string, bool): Semver", semverOf)
    .registerFunction("isSemver(string): bool", (text: string) => Semver.parse(text) !== undefined)
    .registerFunction("isSemver(string, bool): bool", (text: string, isTolerant: boolean) => {
      return (isTolerant ? Semver.parseTolerantly(text) : Semver.parse(text)) !== undefined;
    })
    .registerFunction("Semver.major(): int", (a: Semver) => a.major)
    .registerFunction("Semver.minor(): int", (a: Semver) => a.minor)
    .registerFunction("Semver.patch(): int", (a: Semver) => a.patch)
    .registerFunction("Semver.compareTo(Semver): int", (a: Semver, b: Semver) => BigInt(a.compare(b)))
    .registerFunction("Semver.isGreaterThan(Semver): bool", (a: Semver, b: Semver) => a.compare(b) > 0)
    .registerFunction("Semver.isLessThan(Semver): bool", (a: Semver, b: Semver) => a.compare(b) < 0)
    .registerOperator("Semver == Semver", (a: Semver, b: Semver) => a.compare(b) === 0);
}

function wholeAmount(quantity: Quantity): bigint {
  const amount = quantity.value();
  if (!quantity.equals(Quantity.of(amount))) throw new Error(`${quantity} is not a whole number`);
  return amount;
}
