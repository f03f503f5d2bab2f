import {
  DeviceExpressions,
  type DeviceMatch,
  type DeviceVariable,
  deviceVariable,
} from "../../api/devices/device-expressions.ts";
import type { Device } from "./device.ts";

/** Evaluates selectors; each expression once for each device. */
export class DeviceSelectors {
  readonly #expressions = new DeviceExpressions();
  readonly #known = new Map<
    Device,
    { readonly variable: DeviceVariable; readonly matches: Map<string, DeviceMatch> }
  >();

  problemOf(expression: string): string | undefined {
    return this.#expressions.problemOf(expression);
  }

  /** Whether all selectors match; the first problem otherwise. */
  matches(device: Device, selectors: readonly string[]): boolean | SelectorProblem {
    for (const expression of selectors) {
      const match = this.#match(device, expression);
      if (match === false) return false;
      if (match !== true) return { expression, because: `evaluation failed: ${match.problem}` };
    }
    return true;
  }

  #match(device: Device, expression: string): DeviceMatch {
    const known = this.#known.get(device) ?? {
      variable: deviceVariable(device.driver, device.spec),
      matches: new Map(),
    };
    this.#known.set(device, known);
    const match = known.matches.get(expression) ?? this.#expressions.matches(expression, known.variable);
    known.matches.set(expression, match);
    return match;
  }
}

/** An expression that says neither yes nor no about a device. */
export interface SelectorProblem {
  readonly expression: string;
  readonly because: string;
}
