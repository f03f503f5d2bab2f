import type { DeviceAttribute, DeviceConstraint } from "../../api/devices/device-objects.ts";
import type { AttributeBindings } from "./attribute-bindings.ts";
import type { Device } from "./device.ts";

/**
 * All devices of certain requests have the same value of an attribute. Devices whose value is not known before their node
 * runs match by the bindings of their instance type; known and unknown values do not mix. (02:D-6)
 */
export class MatchAttribute {
  readonly #attribute: string;
  readonly #requests: ReadonlySet<string>;
  readonly #bindings: ReadonlyMap<string, number> | undefined;
  /** The value of each device that was added: what is known of it, or the number of its binding. */
  readonly #values: (string | number)[] = [];

  constructor({ matchAttribute = "", requests = [] }: DeviceConstraint, bindings: AttributeBindings) {
    this.#attribute = matchAttribute;
    this.#requests = new Set(requests);
    this.#bindings = bindings.get(matchAttribute);
  }

  /** Whether it is about a request; a request with alternatives is meant with all of them, or by `request/alternative`. */
  appliesTo({ request, alternative }: { request: string; alternative: string }): boolean {
    return this.#requests.size === 0 || this.#requests.has(request) || this.#requests.has(alternative);
  }

  /** Adds a device, unless it does not match those before. */
  add(device: Device): boolean {
    const attribute = attributeOf(device, this.#attribute);
    const value = attribute === undefined ? this.#bindings?.get(device.key) : comparableValue(attribute);
    const [first] = this.#values;
    if (value === undefined || (first !== undefined && value !== first)) return false;
    this.#values.push(value);
    return true;
  }

  removeLast(): void {
    this.#values.pop();
  }
}

/** Names without a domain are in that of the driver. */
function attributeOf({ spec: { attributes = {} }, driver }: Device, name: string): DeviceAttribute | undefined {
  const own = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  if (own !== undefined || !name.startsWith(`${driver}/`)) return own;
  const short = name.slice(driver.length + 1);
  return Object.hasOwn(attributes, short) ? attributes[short] : undefined;
}

/** A text that is the same for equal values of one type. An attribute without a value equals nothing. */
function comparableValue({ string, int, bool, version }: DeviceAttribute): string | undefined {
  if (string !== undefined) return `string ${string}`;
  if (int !== undefined) return `int ${int}`;
  if (bool !== undefined) return `bool ${bool}`;
  return version === undefined ? undefined : `version ${version}`;
}
