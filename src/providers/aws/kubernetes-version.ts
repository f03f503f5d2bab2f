import type { Logger } from "../../util/logger.ts";

/** Versions images exist for. (04 §5.2) */
const supported = { from: 26, to: 36 };

/** The version of Kubernetes, `major.minor`, as last read. */
export class KubernetesVersion {
  readonly #read: () => Promise<string>;
  readonly #log: Logger;
  #current = "";

  constructor({ read, log }: { readonly read: () => Promise<string>; readonly log: Logger }) {
    this.#read = read;
    this.#log = log;
  }

  get current(): string {
    return this.#current;
  }

  async refresh(): Promise<void> {
    const version = (await this.#read()).replace(/\+$/, "");
    if (version === this.#current) return;
    this.#current = version;
    const minor = Number(version.split(".")[1]);
    if (minor >= supported.from && minor <= supported.to) return;
    this.#log.error("this version of Kubernetes is not supported", {
      version,
      supported: `1.${supported.from} to 1.${supported.to}`,
    });
  }
}
