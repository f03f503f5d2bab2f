import type { ManifestDocument } from "../api/manifest/document.ts";
import { type Finding, fileStartPosition } from "../api/manifest/finding.ts";
import { errorMessage } from "../util/error-text.ts";
import { type Input, type InputOptions, readInput } from "./input.ts";
import type { Io } from "./io.ts";
import type { LiveReading, LiveSource } from "./live-cluster.ts";
import { inOrderOfAge, projectObject } from "./snapshot/project-object.ts";
import { objectDocument } from "./snapshot/snapshot-file.ts";
import { type SnapshotHeader, snapshotHeaderOf } from "./snapshot/snapshot-header.ts";

export interface PlanInputOptions extends Omit<InputOptions, "cluster"> {
  /** A live cluster to begin with; the files are laid over it. */
  readonly live?: LiveSource | undefined;
}

export interface PlanInputContext {
  readonly io: Io;
  readonly nowMs: number;
}

/** Everything a plan starts from: a live cluster, snapshots, manifests. */
export async function readPlanInput({ live, ...options }: PlanInputOptions, tools: PlanInputContext): Promise<Input> {
  if (live === undefined) return readInput(options, tools.io);
  const found = await readLiveDocuments(live, tools);
  const input = await readInput({ ...options, cluster: found.documents }, tools.io);
  const header = input.header ?? found.header;
  return {
    ...input,
    findings: [...found.findings, ...input.findings],
    sources: [clusterSource, ...input.sources],
    ...(header !== undefined && { header }),
  };
}

interface LiveClusterDocuments {
  readonly documents: readonly ManifestDocument[];
  readonly findings: readonly Finding[];
  readonly header?: SnapshotHeader;
}

const clusterSource = "cluster";

async function readLiveDocuments(live: LiveSource, { io, nowMs }: PlanInputContext): Promise<LiveClusterDocuments> {
  const [{ readLiveCluster }, { connectTo }] = await Promise.all([import("./live-cluster.ts"), import("./connect.ts")]);
  try {
    const cluster = await (live.connect ?? connectTo(io))(live);
    try {
      const reading = await readLiveCluster(cluster);
      const objects = inOrderOfAge(reading.objects.flatMap((object) => projectObject(object) ?? []));
      return {
        documents: objects.map((object) => objectDocument(object, clusterSource)),
        findings: forbiddenFindings(reading),
        header: snapshotHeaderOf(objects, { timeMs: nowMs }),
      };
    } finally {
      cluster.close();
    }
  } catch (error) {
    return { documents: [], findings: [clusterFinding(unreachableText(error))] };
  }
}

/** One sentence about why a cluster could not be read. */
export function unreachableText(error: unknown): string {
  return `cannot read the cluster: ${errorMessage(error)}`;
}

/** Without these a plan is about another cluster than the one there is. */
const essentialKinds: ReadonlySet<string> = new Set(["Pod", "Node", "NodePool", "NodeClaim"]);

function forbiddenFindings({ forbidden }: LiveReading): readonly Finding[] {
  return forbidden.map(({ kind, because }) => ({
    ...clusterFinding(`you may not list ${kind}: ${because}`),
    severity: essentialKinds.has(kind) ? "error" : "warning",
    advice: forbiddenAdvice,
  }));
}

export const forbiddenAdvice = "ask for the verb list on it (kubectl auth can-i list says what you have)";

function clusterFinding(message: string): Finding {
  return {
    severity: "error",
    code: "unreadable",
    source: clusterSource,
    position: fileStartPosition,
    path: [],
    message,
  };
}
