import type { Clock } from "../../../util/clock.ts";
import { ExpiringMap } from "../../../util/expiring-map.ts";
import type { SsmApi } from "../api/aws-api.ts";

const hour = 60 * 60_000;
const publicMs = 24 * hour;
const customMs = 5 * 60_000;

/** A parameter of SSM that names an image. */
export interface ImageParameter {
  readonly name: string;
  /** Named by the user, not by an alias. */
  readonly isCustom: boolean;
  /** Whether its value changes when a newer image is out. */
  readonly isMutable: boolean;
}

/** Values of SSM parameters: a day for those of aliases, five minutes for the user's own. (04 §1.7) */
export class ImageParameters {
  readonly #ssm: SsmApi;
  readonly #values: ExpiringMap<string>;
  readonly #mutable = new Set<string>();

  constructor({ ssm, clock }: { readonly ssm: SsmApi; readonly clock: Clock }) {
    this.#ssm = ssm;
    this.#values = new ExpiringMap(clock);
  }

  async value({ name, isCustom, isMutable }: ImageParameter): Promise<string> {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    const value = await this.#ssm.getParameter(name);
    this.#values.set(name, value, isCustom ? customMs : publicMs);
    if (isMutable) this.#mutable.add(name);
    return value;
  }

  /** Names by value of the parameters that are kept and whose value may have changed since. */
  mutableNamesByImage(): ReadonlyMap<string, readonly string[]> {
    const byImage = new Map<string, string[]>();
    for (const name of this.#mutable) {
      const image = this.#values.get(name);
      if (image === undefined) this.#mutable.delete(name);
      else byImage.set(image, [...(byImage.get(image) ?? []), name]);
    }
    return byImage;
  }

  forget(name: string): void {
    this.#values.delete(name);
    this.#mutable.delete(name);
  }
}
