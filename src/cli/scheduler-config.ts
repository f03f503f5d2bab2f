import type { TopologySpreadConstraint } from "../api/kubernetes/pod.ts";
import { findingLocation } from "../api/manifest/document.ts";
import type { Finding } from "../api/manifest/finding.ts";
import { readSchedulerConfig } from "../core/default-constraints.ts";
import { readInput } from "./input.ts";
import type { Io } from "./io.ts";

/** Reads the cluster's default topology spread constraints from the file of `--scheduler-config`. (02:X-50) */
export async function readSchedulerConfigFile(
  path: string | undefined,
  io: Io,
): Promise<{ readonly constraints: readonly TopologySpreadConstraint[]; readonly findings: readonly Finding[] }> {
  if (path === undefined) return { constraints: [], findings: [] };
  const { documents, findings } = await readInput({ paths: [path], recursive: false }, io);
  const [document] = documents;
  const config = readSchedulerConfig(document?.object);
  if (config.kind === "read") return { constraints: config.constraints, findings };
  const found = config.problems.map(
    (problem): Finding => ({ ...problem, severity: "error", ...findingLocation(document, problem.path, path) }),
  );
  return { constraints: [], findings: [...findings, ...found] };
}
