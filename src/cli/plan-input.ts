import { type Finding, fileStartPosition } from "../api/manifest/finding.ts";
import { AccessFailure, KubeConfigError } from "../kube/access-failure.ts";
import { errorText } from "../util/error-text.ts";
import { noPause, type Pause } from "../util/pause.ts";
import { mapInSteps, runStepsWithPauses } from "../util/steps.ts";
import { type Input, type InputOptions, readInput } from "./input.ts";
import type { Io } from "./io.ts";
import type { LiveReading, LiveSource } from "./live-cluster.ts";
import { inOrderOfAge, projectObject } from "./snapshot/project-object.ts";
import { objectDocument } from "./snapshot/snapshot-file.ts";
import { snapshotHeaderOf } from "./snapshot/snapshot-header.ts";

export interface PlanInputOptions extends Omit<InputOptions, "cluster"> {
  /** A live cluster to start from; objects of the files replace its objects. */
  readonly live?: LiveSource | undefined;
}

export interface PlanInputContext {
  readonly io: Io;
  readonly nowMs: number;
  /** Lets others have a turn while many objects are read. */
  readonly pause?: Pause | undefined;
}

/** Reads everything a plan starts from: a live cluster, snapshots, manifests. */
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

const clusterSource = "cluster";

async function readLiveDocuments(
  live: LiveSource,
  { io, nowMs, pause = noPause }: PlanInputContext,
): Promise<Omit<Input, "sources">> {
  const [{ readLiveCluster }, { connectTo }] = await Promise.all([import("./live-cluster.ts"), import("./connect.ts")]);
  try {
    const cluster = await (live.connect ?? connectTo(io))(live);
    try {
      const reading = await readLiveCluster(cluster);
      const projecting = mapInSteps(reading.objects, (object) => projectObject(object) ?? []);
      const objects = inOrderOfAge((await runStepsWithPauses(projecting, pause)).flat());
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

/** Why a cluster could not be read, and how to check it. */
export function unreachableText(error: unknown): string {
  if (error instanceof AccessFailure || error instanceof KubeConfigError) return error.message;
  return `cannot read the cluster: ${errorText(error)}; check the connection with kubectl cluster-info`;
}

/** Without these kinds a plan would be wrong, so missing them is an error. */
const essentialKinds: ReadonlySet<string> = new Set(["Pod", "Node", "NodePool", "NodeClaim"]);

function forbiddenFindings({ forbidden }: LiveReading): readonly Finding[] {
  return forbidden.map(({ kind, because }) => ({
    ...clusterFinding(`not allowed to list ${kind}: ${because}`),
    severity: essentialKinds.has(kind) ? "error" : "warning",
    advice: forbiddenAdvice,
  }));
}

export const forbiddenAdvice = "grant the list verb on it (check with kubectl auth can-i --list)";

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
