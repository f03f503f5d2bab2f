import type { KubeObject } from "../../src/api/object.ts";
import type { KubeClient, ResourceType } from "../../src/kube/client.ts";
import { isKubeError } from "../../src/kube/kube-error.ts";
import { builtInTypes, resourceTypeOf } from "../../src/kube/resources.ts";
import type { SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";
import type { Clock } from "../../src/util/clock.ts";
import type { LogLine } from "../world/recording-log.ts";
import type { StoryCluster } from "./story.ts";

export interface StoryClusterOptions extends Pick<StoryCluster, "restart" | "rival" | "series" | "upgrade"> {
  readonly client: KubeClient;
  readonly cloud: SimulatedCloud;
  readonly namespace: string;
  readonly clock: Clock;
  readonly lines: readonly LogLine[];
  /** Lets so much of the cluster's time pass. */
  readonly advance: (ms: number) => Promise<void>;
  /** How often `until` looks again. */
  readonly pollMs: number;
}

/** What stories do, over any cluster. */
export function storyCluster({
  client,
  cloud,
  namespace,
  clock,
  lines,
  advance,
  pollMs,
  ...rest
}: StoryClusterOptions): StoryCluster {
  const keyOf = (type: ResourceType, name: string) => (type.namespaced ? { name, namespace } : { name });
  const get: StoryCluster["get"] = async (type, name) => {
    try {
      return await client.get(type, keyOf(type, name));
    } catch (error) {
      if (isKubeError(error, "not-found")) return undefined;
      throw error;
    }
  };
  const put = async (object: KubeObject) => {
    const type = resourceTypeOf(object);
    if (type === undefined) throw new Error(`no resource type for ${object.apiVersion} ${object.kind}`);
    const placed = type.namespaced ? { ...object, metadata: { namespace, ...object.metadata } } : object;
    const key = { name: placed.metadata.name ?? "", ...(type.namespaced && { namespace: placed.metadata.namespace }) };
    const patch = { kind: "apply", body: placed, fieldManager: "story", force: true } as const;
    await client.patch(type, key, patch);
  };
  return {
    client,
    cloud,
    namespace,
    ...rest,
    now: () => clock.now(),
    get,
    apply: async (...objects) => {
      for (const object of objects as readonly KubeObject[]) await put(object);
    },
    list: async <T extends KubeObject>(type: ResourceType) =>
      (await client.list<T>(type, type.namespaced ? { namespace } : {})).items,
    patch: async (type, name, body, options = {}) => {
      await client.patch(type, keyOf(type, name), { kind: "merge", body }, options);
    },
    remove: async (type, name) => {
      await client.delete(type, keyOf(type, name), { propagation: "Background" });
    },
    scale: async (name, replicas) => {
      await client.patch(builtInTypes.Deployment, { name, namespace }, { kind: "merge", body: { spec: { replicas } } });
    },
    until: async (what, probe, seconds = 300) => {
      const deadline = clock.now() + seconds * 1_000;
      while (!(await probe())) {
        if (clock.now() >= deadline) throw new Error(`${what}: not within ${seconds} s\n${await scene(client, lines)}`);
        await advance(pollMs);
      }
    },
    pass: (seconds) => advance(seconds * 1_000),
    log: () => lines,
    events: async (name) => {
      const { items } = await client.list<KubeObject & Telling>(builtInTypes.Event);
      const places = [namespace, "default"]; // what is in no namespace is told of in `default`
      return items
        .filter(
          ({ involvedObject, metadata }) => involvedObject.name === name && places.includes(metadata.namespace ?? ""),
        )
        .map(({ reason, message }) => ({ reason, message }));
    },
  };
}

interface Telling {
  readonly involvedObject: { readonly name: string };
  readonly reason: string;
  readonly message: string;
}

/** The state of the cluster, for the error message of a story that waits in vain. */
async function scene(client: KubeClient, lines: readonly LogLine[]): Promise<string> {
  const claims = await client.list(claimType);
  const nodes = await client.list(builtInTypes.Node);
  const pods = await client.list(builtInTypes.Pod);
  const shown = (objects: readonly KubeObject[]) => objects.slice(0, 10).map((one) => `  ${line(one)}`);
  return [
    `${claims.items.length} claims`,
    ...shown(claims.items),
    `${nodes.items.length} nodes`,
    ...shown(nodes.items),
    `${pods.items.length} pods`,
    ...shown(pods.items),
    "log",
    ...lines.slice(-25).map(({ level, message, ...values }) => `  ${level} ${message} ${text(values)}`),
  ].join("\n");
}

const claimType = { group: "karpenter.sh", version: "v1", kind: "NodeClaim", plural: "nodeclaims", namespaced: false };

function line({ metadata, spec, status }: KubeObject): string {
  const { conditions = [], phase } = (status ?? {}) as {
    conditions?: { type: string; status: string; reason?: string }[];
    phase?: string;
  };
  const { nodeName } = (spec ?? {}) as { nodeName?: string };
  const told = conditions
    .filter((one) => one.status !== "True")
    .map(({ type, status: is, reason }) => `${type}=${is}(${reason})`);
  const leaving = metadata.deletionTimestamp === undefined ? "" : " deleting";
  return `${metadata.name}${leaving} ${phase ?? ""} ${nodeName ?? ""} ${told.join(" ")}`;
}

function text(values: object): string {
  return JSON.stringify(values, (_, value) => (value instanceof Error ? value.message : value)).slice(0, 300);
}
