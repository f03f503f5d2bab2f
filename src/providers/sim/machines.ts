import type { SimulatedInstance } from "../../cloud/instance-source.ts";
import type { Blueprint, Machine } from "./machine.ts";

/** The machines there are, found by any of their names. */
export class Machines {
  readonly #byId = new Map<string, Machine>();
  readonly #byProviderId = new Map<string, string>();
  readonly #byNodeName = new Map<string, string>();
  /** The last machine each token got. */
  readonly #byToken = new Map<string, string>();

  put(machine: Machine): void {
    const { id, providerId, nodeName } = machine.instance;
    this.#byId.set(id, machine);
    this.#byProviderId.set(providerId, id);
    this.#byNodeName.set(nodeName, id);
    if (machine.token !== "") this.#byToken.set(machine.token, id);
  }

  remove({ instance, token }: Machine): void {
    this.#byId.delete(instance.id);
    this.#byProviderId.delete(instance.providerId);
    this.#byNodeName.delete(instance.nodeName);
    if (this.#byToken.get(token) === instance.id) this.#byToken.delete(token);
  }

  get(id: string): Machine | undefined {
    return this.#byId.get(id);
  }

  /** By id, provider id or name of its Node. */
  named(name: string): Machine | undefined {
    return this.get(name) ?? this.get(this.#byProviderId.get(name) ?? this.#byNodeName.get(name) ?? "");
  }

  /** The one launched for this token, unless it is on its way out. */
  of(token: string): Machine | undefined {
    const machine = this.get(this.#byToken.get(token) ?? "");
    return machine?.isTerminating === false ? machine : undefined;
  }

  isTaken({ id, nodeName }: Blueprint): boolean {
    return this.#byId.has(id) || this.#byNodeName.has(nodeName);
  }

  instances(): readonly SimulatedInstance[] {
    return [...this.#byId.values()].map(({ instance }) => instance);
  }

  /** By id. */
  sorted(): readonly Machine[] {
    return [...this.#byId.values()].sort((a, b) => (a.instance.id < b.instance.id ? -1 : 1));
  }
}
