import { convertManifests } from "../../api/conversion/manifests.ts";
import { sortedFindings } from "../../api/manifest/finding.ts";
import type { ApiServer } from "../../control-plane/api/server.ts";
import { loadObjects } from "../../control-plane/load-objects.ts";
import { readInput } from "../input.ts";
import type { Io } from "../io.ts";
import { reportFindings } from "../report-findings.ts";
import type { UpOptions } from "./up-options.ts";

/** Converts manifests leniently and creates their objects; none of them if one has an error. */
export async function loadManifests(
  api: ApiServer,
  { filename = [], recursive }: Pick<UpOptions, "filename" | "recursive">,
  io: Io,
): Promise<boolean> {
  if (filename.length === 0) return true;
  const input = await readInput({ paths: filename, recursive: recursive === true }, io);
  const conversion = convertManifests(input.documents, { mode: "lenient", provider: "all", ignoreDefaults: false });
  const findings = sortedFindings([...input.findings, ...conversion.findings], input.sources);
  if (reportFindings(findings, io) > 0) return false;
  const refusals = await loadObjects(
    api,
    conversion.documents.map(({ object }) => object),
  );
  for (const refusal of refusals) io.stderr(`error: ${refusal}\n`);
  return refusals.length === 0;
}
