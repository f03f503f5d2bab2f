import type { SimulatedInstance } from "../../cloud/instance-source.ts";
import type { InstanceRecord, InstanceTemplate } from "./fleet-request.ts";

/** All instances, by id, provider id, node name and client token. */
export class InstanceRecords {
  readonly #byId = new Map<string, InstanceRecord>();
  readonly #byProviderId = new Map<string, string>();
  readonly #byNodeName = new Map<string, string>();
  /** The last instance of each token. */
  readonly #byClientToken = new Map<string, string>();

  put(record: InstanceRecord): void {
    const { id, providerId, nodeName } = record.instance;
    this.#byId.set(id, record);
    this.#byProviderId.set(providerId, id);
    this.#byNodeName.set(nodeName, id);
    if (record.clientToken !== "") this.#byClientToken.set(record.clientToken, id);
  }

  remove({ instance, clientToken }: InstanceRecord): void {
    this.#byId.delete(instance.id);
    this.#byProviderId.delete(instance.providerId);
    this.#byNodeName.delete(instance.nodeName);
    if (this.#byClientToken.get(clientToken) === instance.id) this.#byClientToken.delete(clientToken);
  }

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): InstanceRecord | undefined {
    return this.#byId.get(id);
  }

  /** Finds an instance by id, provider id or node name. */
  find(name: string): InstanceRecord | undefined {
    return this.get(name) ?? this.get(this.#byProviderId.get(name) ?? this.#byNodeName.get(name) ?? "");
  }

  /** The instance launched for this token, unless it is terminating. */
  byClientToken(clientToken: string): InstanceRecord | undefined {
    const record = this.get(this.#byClientToken.get(clientToken) ?? "");
    return record?.isTerminating === false ? record : undefined;
  }

  isTaken({ id, nodeName }: InstanceTemplate): boolean {
    return this.#byId.has(id) || this.#byNodeName.has(nodeName);
  }

  instances(): readonly SimulatedInstance[] {
    return [...this.#byId.values()].map(({ instance }) => instance);
  }

  /** Sorted by id. */
  list(): readonly InstanceRecord[] {
    return [...this.#byId.values()].sort((a, b) => (a.instance.id < b.instance.id ? -1 : 1));
  }
}
