import type { LabelPolicy } from "../../api/label-policy.ts";
import { labels } from "../../api/labels.ts";
import { Requirement } from "../requirement.ts";
import { Requirements } from "../requirements.ts";

/** Reads the labels of nodes, each distinct key and value once: thousands of nodes share a few dozen. (02:R-21) */
export class LabelReader {
  readonly #known = new Map<string, Map<string, Requirement>>();
  readonly #policy: LabelPolicy;

  constructor(policy: LabelPolicy) {
    this.#policy = policy;
  }

  /** As `Requirements.fromLabels`. */
  read(nodeLabels: Readonly<Record<string, string>>): Requirements {
    return Requirements.of(...Object.entries(nodeLabels).map(([key, value]) => this.#requirement(key, value)));
  }

  #requirement(key: string, value: string): Requirement {
    const byValue = this.#known.get(key) ?? new Map<string, Requirement>();
    this.#known.set(key, byValue);
    const known = byValue.get(value);
    if (known !== undefined) return known;
    const requirement = Requirement.fromItem({ key, operator: "In", values: [value] }, this.#policy);
    if (key !== labels.hostname) byValue.set(value, requirement); // every node has its own
    return requirement;
  }
}
