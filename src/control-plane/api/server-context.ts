import type { ObjectKey } from "../../kube/client.ts";
import type { Clock } from "../../util/clock.ts";
import type { Random } from "../../util/random.ts";
import type { KindRegistry } from "../kinds/kind-registry.ts";
import type { AdmissionContext, ReviewContext, ServedKind } from "../kinds/served-kind.ts";
import type { ObjectStore } from "../store/object-store.ts";
import { apiError } from "./api-errors.ts";
import type { TokenRegistry } from "./token-registry.ts";

/** What the parts of the API server share. */
export interface ServerContext {
  readonly store: ObjectStore;
  readonly kinds: KindRegistry;
  readonly clock: Clock;
  /** Generated names and uids come from here. */
  readonly random: Random;
  readonly tokens: TokenRegistry;
}

export function storageKey(kind: ServedKind, { name, namespace }: ObjectKey): string {
  return kind.namespaced ? `${namespace ?? ""}/${name}` : name;
}

export function admissionContext({ store, kinds, clock, random }: ServerContext): AdmissionContext {
  return {
    now: clock.now(),
    random,
    get: (storage, name, namespace) =>
      store.collection(storage).get(namespace === undefined ? name : `${namespace}/${name}`),
    isBuiltIn: (group, name) => kinds.isBuiltIn(group, name),
    list: (storage, namespace) => {
      const prefix = namespace === undefined ? "" : `${namespace}/`;
      return [...store.collection(storage).range({ prefix })].map(([, object]) => object);
    },
  };
}

export function reviewContext(server: ServerContext): ReviewContext {
  return { ...admissionContext(server), userOfToken: (token, audiences) => server.tokens.find(token, audiences) };
}

/** Waits until everything written so far is in the journal. */
export async function waitUntilDurable({ store }: ServerContext): Promise<void> {
  const waiting = store.durable();
  if (waiting === undefined) return;
  try {
    await waiting;
  } catch (error) {
    throw apiError("server-error", `the write could not be persisted: ${String(error)}`);
  }
}
