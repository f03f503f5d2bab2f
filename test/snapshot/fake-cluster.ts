import { type KubeObject, namespaceOf } from "../../src/api/object.ts";
import type { Connect } from "../../src/cli/live-cluster.ts";
import type { ListOptions, ObjectList, ResourceType } from "../../src/kube/client.ts";
import { KubeError, type KubeErrorCode } from "../../src/kube/kube-error.ts";
import { apiVersionOf } from "../../src/kube/resources.ts";
import { VirtualClock } from "../../src/util/virtual-clock.ts";

export interface FakeClusterOptions {
  readonly forbidden?: readonly string[];
  /** Kinds the server has never heard of. */
  readonly absent?: readonly string[];
  readonly pageSize?: number;
  /** Answers some requests with an error, by their number from 1. */
  readonly fails?: (request: number, type: ResourceType) => KubeErrorCode | undefined;
  readonly onList?: (type: ResourceType, options: ListOptions) => void;
}

/** A cluster of these objects, listed as an API server does: by namespace and name, in pages. */
export function fakeCluster(objects: readonly KubeObject[], options: FakeClusterOptions = {}): Connect {
  const { forbidden = [], absent = [], pageSize = 500, fails, onList } = options;
  let requests = 0;
  const list = async <T extends KubeObject>(type: ResourceType, query: ListOptions = {}): Promise<ObjectList<T>> => {
    requests += 1;
    onList?.(type, query);
    const failure = fails?.(requests, type);
    if (failure !== undefined) throw refusal(failure, `it is ${failure}`);
    if (absent.includes(type.kind)) throw refusal("not-found", "the server could not find the requested resource");
    if (forbidden.includes(type.kind)) throw refusal("forbidden", `${type.plural} is forbidden`);
    const all = objects.filter(({ apiVersion, kind }) => apiVersion === apiVersionOf(type) && kind === type.kind);
    const seen = all.filter(
      ({ metadata }) => query.namespace === undefined || namespaceOf(metadata) === query.namespace,
    );
    const sorted = seen.sort((a, b) => (place(a) < place(b) ? -1 : 1));
    const start = Number(query.continue ?? 0);
    const end = start + Math.min(pageSize, query.limit ?? pageSize);
    return {
      items: sorted.slice(start, end) as unknown as readonly T[],
      resourceVersion: "1",
      ...(end < sorted.length && { continue: String(end) }),
    };
  };
  return async () => ({
    kube: { list },
    server: "https://cluster.test",
    clock: new VirtualClock({ startAt: 0 }),
    close: () => undefined,
  });
}

function place({ metadata }: KubeObject): string {
  return `${namespaceOf(metadata)}/${metadata.name}`;
}

function refusal(code: KubeErrorCode, message: string): KubeError {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 0 } as const;
  return new KubeError(code, message, { status });
}

/** Objects as a server stores them: each with an identity and an age, in the order given. */
export function stored(objects: readonly KubeObject[]): readonly KubeObject[] {
  return objects.map((object, index) => ({
    ...object,
    metadata: {
      ...object.metadata,
      uid: object.metadata.uid ?? `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
      creationTimestamp: object.metadata.creationTimestamp ?? new Date(1_760_000_000_000 + index * 1000).toISOString(),
      managedFields: [{ manager: "kubectl" }],
    },
  }));
}
