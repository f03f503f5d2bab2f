import type { KubeObject } from "../../src/api/object.ts";
import { ApiServer, type ApiServerOptions } from "../../src/control-plane/api/server.ts";
import { InProcessClient } from "../../src/control-plane/in-process-client.ts";
import { ServerSchemas } from "../../src/control-plane/kinds/server-schemas.ts";
import type { KubeClient, ResourceType } from "../../src/kube/client.ts";
import { isKubeError } from "../../src/kube/kube-error.ts";
import { builtInTypes, resourceTypeOf } from "../../src/kube/resources.ts";
import type { Clock } from "../../src/util/clock.ts";
import { Random } from "../../src/util/random.ts";
import { VirtualClock } from "../../src/util/virtual-clock.ts";

/** When every world begins. */
export const startAt = Date.parse("2026-01-01T00:00:00Z");

/** Compiled once: the servers of all worlds share it. */
const schemas = new ServerSchemas();

export interface ApiOptions extends Omit<ApiServerOptions, "clock" | "random"> {
  readonly seed?: string | undefined;
  /** Who the client writes as. */
  readonly fieldManager?: string | undefined;
}

/** An API server without sockets, on any clock, and a client of it. Everything random comes from the seed. */
export function apiOn<C extends Clock>(clock: C, { seed = "test", fieldManager, ...options }: ApiOptions = {}) {
  const random = new Random(seed);
  const api = new ApiServer({ schemas, ...options, clock, random: random.fork("api") });
  const client = new InProcessClient(api, fieldManager === undefined ? {} : { fieldManager });
  return { clock, random, api, client };
}

export interface ApiWorldOptions extends ApiOptions {
  /** One of its own from `startAt` on, unless given. */
  readonly clock?: VirtualClock | undefined;
}

/** An API server on the virtual clock. */
export function apiWorld({ clock = new VirtualClock({ startAt }), ...options }: ApiWorldOptions = {}) {
  const world = apiOn(clock, options);
  return { ...world, ...timeOf(clock), ...objectsOf(world.client, () => clock.advance(0)) };
}
export type ApiWorld = ReturnType<typeof apiWorld>;

function timeOf(clock: VirtualClock) {
  const pass = async (seconds: number): Promise<void> => void (await clock.advance(seconds * 1_000));
  return {
    /** Lets time pass; `pass(0)` lets everything settle that is due now. */
    pass,
    /** Lets time pass while something is under way, and hands out how it ended. */
    during: async <T>(underWay: Promise<T>, seconds = 60): Promise<T> => {
      underWay.catch(() => {}); // it is thrown below, once the time has passed
      await pass(seconds);
      return underWay;
    },
  };
}

/** What tests do with objects; after every write those who watch hear of it. */
function objectsOf(client: KubeClient, settle: () => Promise<unknown>) {
  return {
    create: async <T extends KubeObject>(...objects: readonly object[]): Promise<T> => {
      let last: KubeObject | undefined;
      for (const object of objects as readonly KubeObject[]) last = await client.create(typeFor(object), object);
      await settle();
      return last as T;
    },
    get: <T extends KubeObject>(type: ResourceType, name: string, namespace?: string): Promise<T | undefined> =>
      client.get<T>(type, { name, namespace }).catch((error: unknown) => {
        if (isKubeError(error, "not-found")) return undefined;
        throw error;
      }),
    list: async <T extends KubeObject>(type: ResourceType): Promise<readonly T[]> => (await client.list<T>(type)).items,
    /** Writes the status subresource. */
    status: async (object: KubeObject, status: object): Promise<void> => {
      const { name = "", namespace } = object.metadata;
      const patch = { kind: "merge", body: { status } } as const;
      await client.patch(typeFor(object), { name, namespace }, patch, { subresource: "status" });
      await settle();
    },
    /** Events about an object, oldest first. */
    events: async (name: string): Promise<readonly EventSummary[]> => {
      const { items } = await client.list<KubeObject & EventFields>(builtInTypes.Event);
      return items
        .filter(({ involvedObject }) => involvedObject.name === name)
        .map(({ reason, message, type }) => ({ reason, message, type }));
    },
  };
}

interface EventSummary {
  readonly reason: string;
  readonly message: string;
  readonly type: string;
}

interface EventFields extends EventSummary {
  readonly involvedObject: { readonly name: string };
}

export function typeFor(object: KubeObject): ResourceType {
  const type = resourceTypeOf(object);
  if (type === undefined) throw new Error(`no resource type for ${object.apiVersion} ${object.kind}`);
  return type;
}
