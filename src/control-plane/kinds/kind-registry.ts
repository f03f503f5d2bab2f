import type { ResourceType } from "../../kube/client.ts";
import { apiVersionOf } from "../../kube/resources.ts";
import { noSuchResource } from "../api/api-errors.ts";
import type { ServedKind } from "./served-kind.ts";

/** The kinds served now; CustomResourceDefinitions add and remove them. */
export class KindRegistry {
  readonly #kinds = new Map<string, ServedKind>();

  constructor(kinds: Iterable<ServedKind>) {
    for (const kind of kinds) this.#kinds.set(addressOf(kind), kind);
  }

  all(): readonly ServedKind[] {
    return [...this.#kinds.values()];
  }

  find(address: Pick<ResourceType, "group" | "version" | "plural">): ServedKind | undefined {
    return this.#kinds.get(addressOf(address));
  }

  /** By apiVersion and kind. */
  findByApiVersion({
    apiVersion,
    kind,
  }: {
    readonly apiVersion: string;
    readonly kind: string;
  }): ServedKind | undefined {
    return this.all().find((one) => one.kind === kind && apiVersionOf(one) === apiVersion);
  }

  /** Throws 404 for an unknown kind. */
  get(address: Pick<ResourceType, "group" | "version" | "plural">): ServedKind {
    const found = this.find(address);
    if (found === undefined) throw noSuchResource();
    return found;
  }

  /** Whether the server has a kind of this name or plural without a CustomResourceDefinition. */
  isBuiltIn(group: string, name: string): boolean {
    return this.all().some(
      (one) => one.group === group && one.custom === undefined && (one.plural === name || one.kind === name),
    );
  }

  /** Replaces all kinds of one storage, when a CustomResourceDefinition changes. */
  replace(storage: string, kinds: readonly ServedKind[]): void {
    for (const [address, kind] of this.#kinds) if (kind.storage === storage) this.#kinds.delete(address);
    for (const kind of kinds) this.#kinds.set(addressOf(kind), kind);
  }
}

function addressOf({ group, version, plural }: Pick<ResourceType, "group" | "version" | "plural">): string {
  return `${group}/${version}/${plural}`;
}
