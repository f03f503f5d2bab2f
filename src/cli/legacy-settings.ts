import { valueAt } from "../api/conversion/conversion-draft.ts";
import type { Finding } from "../api/manifest/finding.ts";
import { readInput } from "./input.ts";
import type { Io } from "./io.ts";

export interface LegacySettings {
  readonly clusterName?: string;
  readonly defaultInstanceProfile?: string;
}

export interface LegacySettingSources extends LegacySettings {
  /** A values file of the Helm chart. */
  readonly helmValues?: string;
}

/** Where the different versions of the chart have the two settings. (01 §7.9) */
const settingPaths = {
  clusterName: [["settings", "clusterName"], ["settings", "aws", "clusterName"], ["clusterName"]],
  defaultInstanceProfile: [
    ["settings", "defaultInstanceProfile"],
    ["settings", "aws", "defaultInstanceProfile"],
    ["aws", "defaultInstanceProfile"],
  ],
} as const;

/** Settings of the old installation: from the command line, else from its Helm values, else from the environment. */
export async function readLegacySettings(
  { helmValues, clusterName, defaultInstanceProfile }: LegacySettingSources,
  io: Io,
): Promise<{ readonly values: LegacySettings; readonly findings: readonly Finding[] }> {
  const read = helmValues === undefined ? undefined : await readInput({ paths: [helmValues], recursive: false }, io);
  const values = read?.documents[0]?.object;
  const cluster = clusterName ?? firstString(values, settingPaths.clusterName) ?? (io.env["CLUSTER_NAME"] || undefined);
  const profile = defaultInstanceProfile ?? firstString(values, settingPaths.defaultInstanceProfile);
  return {
    values: {
      ...(cluster !== undefined && { clusterName: cluster }),
      ...(profile !== undefined && { defaultInstanceProfile: profile }),
    },
    findings: read?.findings ?? [],
  };
}

function firstString(values: unknown, candidates: readonly (readonly string[])[]): string | undefined {
  return candidates
    .map((path) => valueAt(values, path))
    .find((value): value is string => typeof value === "string" && value !== "");
}
