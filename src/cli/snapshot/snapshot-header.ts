import { groups, labels } from "../../api/labels.ts";
import { isRecord, type KubeObject } from "../../api/object.ts";
import { nodeClassRefOf } from "../../core/scenario/node-classes.ts";
import { scenarioKind } from "../../core/scenario/scenario-kind.ts";
import { rfc3339 } from "../../util/timestamp.ts";

export const snapshotVersion = 1;

/** The first line of a snapshot. */
export interface SnapshotHeader {
  readonly kind: "Snapshot";
  readonly version: number;
  /** When the cluster was read, RFC 3339. */
  readonly time: string;
  /** Inferred from the node classes of the pools; absent if there are none. */
  readonly provider?: SnapshotProvider;
  /** The region of most nodes; absent if no node has one. */
  readonly region?: string;
  /** Names were replaced by hashes. */
  readonly hashed?: true;
}

type SnapshotProvider = "kwok" | "aws" | "azure";

const providerOfGroup: Readonly<Record<string, SnapshotProvider>> = {
  [groups.kwok]: "kwok",
  [groups.aws]: "aws",
  [groups.azure]: "azure",
};

export function snapshotHeaderOf(
  objects: readonly KubeObject[],
  { timeMs, hashed = false }: { readonly timeMs: number; readonly hashed?: boolean },
): SnapshotHeader {
  const provider = providerOf(objects);
  const region = regionOf(objects);
  return {
    kind: "Snapshot",
    version: snapshotVersion,
    time: rfc3339(timeMs),
    ...(provider !== undefined && { provider }),
    ...(region !== undefined && { region }),
    ...(hashed && { hashed }),
  };
}

function providerOf(objects: readonly KubeObject[]): SnapshotProvider | undefined {
  const pools = objects.filter((object) => scenarioKind(object) === "NodePool");
  return mostFrequent(pools.flatMap((pool) => providerOfGroup[nodeClassRefOf(pool)?.group ?? ""] ?? []));
}

function regionOf(objects: readonly KubeObject[]): string | undefined {
  const nodes = objects.filter((object) => scenarioKind(object) === "Node");
  return mostFrequent(nodes.flatMap(({ metadata }) => metadata.labels?.[labels.region] ?? []));
}

function mostFrequent<T extends string>(words: readonly T[]): T | undefined {
  const counts = new Map<T, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const [first] = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return first?.[0];
}

/** The header, if the line is the first line of a snapshot. */
export function readSnapshotHeader(line: string): SnapshotHeader | undefined {
  if (!line.startsWith('{"kind":"Snapshot"')) return undefined;
  try {
    const header: unknown = JSON.parse(line);
    return isSnapshotHeader(header) ? header : undefined;
  } catch {
    return undefined;
  }
}

function isSnapshotHeader(value: unknown): value is SnapshotHeader {
  return isRecord(value) && typeof value["version"] === "number" && typeof value["time"] === "string";
}
