import type { ManifestDocument } from "../api/manifest/document.ts";
import { type Finding, fileStart } from "../api/manifest/finding.ts";
import { type Input, type InputOptions, readInput } from "./input.ts";
import type { Io } from "./io.ts";
import type { LiveReading, LiveSource } from "./live.ts";
import { documentOf } from "./snapshot/file.ts";
import { headerOf, type SnapshotHeader } from "./snapshot/header.ts";
import { inOrderOfAge, project } from "./snapshot/project.ts";

export interface WorldOptions extends Omit<InputOptions, "cluster"> {
  /** A live cluster to begin with; the files are laid over it. */
  readonly live?: LiveSource | undefined;
}

export interface WorldTools {
  readonly io: Io;
  readonly nowMs: number;
}

/** Everything a plan starts from: a live cluster, snapshots, manifests. */
export async function readWorld({ live, ...options }: WorldOptions, tools: WorldTools): Promise<Input> {
  if (live === undefined) return readInput(options, tools.io);
  const found = await liveDocuments(live, tools);
  const input = await readInput({ ...options, cluster: found.documents }, tools.io);
  const header = input.header ?? found.header;
  return {
    ...input,
    findings: [...found.findings, ...input.findings],
    sources: [source, ...input.sources],
    ...(header !== undefined && { header }),
  };
}

interface LiveDocuments {
  readonly documents: readonly ManifestDocument[];
  readonly findings: readonly Finding[];
  readonly header?: SnapshotHeader;
}

const source = "cluster";

async function liveDocuments(live: LiveSource, { io, nowMs }: WorldTools): Promise<LiveDocuments> {
  const [{ readLive }, { connectTo }] = await Promise.all([import("./live.ts"), import("./connect.ts")]);
  try {
    const cluster = await (live.connect ?? connectTo(io))(live);
    try {
      const reading = await readLive(cluster);
      const objects = inOrderOfAge(reading.objects.flatMap((object) => project(object) ?? []));
      return {
        documents: objects.map((object) => documentOf(object, source)),
        findings: forbiddenFindings(reading),
        header: headerOf(objects, { timeMs: nowMs }),
      };
    } finally {
      cluster.close();
    }
  } catch (error) {
    return { documents: [], findings: [finding(unreachableText(error))] };
  }
}

/** One sentence about why a cluster could not be read. */
export function unreachableText(error: unknown): string {
  return `cannot read the cluster: ${error instanceof Error ? error.message : String(error)}`;
}

/** Without these a plan is about another cluster than the one there is. */
const essential: ReadonlySet<string> = new Set(["Pod", "Node", "NodePool", "NodeClaim"]);

function forbiddenFindings({ forbidden }: LiveReading): readonly Finding[] {
  return forbidden.map(({ kind, because }) => ({
    ...finding(`you may not list ${kind}: ${because}`),
    severity: essential.has(kind) ? "error" : "warning",
    advice: forbiddenAdvice,
  }));
}

export const forbiddenAdvice = "ask for the verb list on it (kubectl auth can-i list says what you have)";

function finding(message: string): Finding {
  return { severity: "error", code: "unreadable", source, position: fileStart, path: [], message };
}
