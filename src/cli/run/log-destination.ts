import { openSync } from "node:fs";
import { dirname } from "node:path";
import { type DestinationStream, destination } from "pino";
import { failureText, type Io, makeFolder } from "../io.ts";
import type { UsageProblems } from "./usage-problems.ts";

/** The destinations of `--log-output-paths`: standard output, standard error, and files. */
export async function logDestination(
  paths: readonly string[],
  io: Pick<Io, "stdout" | "stderr">,
): Promise<DestinationStream | UsageProblems> {
  const writes: ((line: string) => void)[] = [];
  const problems: string[] = [];
  if (paths.includes("stdout")) writes.push(io.stdout);
  if (paths.includes("stderr")) writes.push(io.stderr);
  for (const path of paths.filter((one) => one !== "stdout" && one !== "stderr" && one !== "")) {
    try {
      writes.push(await logFile(path, io));
    } catch (error) {
      problems.push(`--log-output-paths: cannot write to ${path}: ${failureText(error)}`);
    }
  }
  if (problems.length > 0) return { problems };
  return {
    write: (line) => {
      for (const write of writes) write(line);
    },
  };
}

/** How much is kept to be written once there is space again. */
const maxUnwrittenBytes = 2 ** 20;

/**
 * A full disk loses lines of the log and does not stop the controller; it is reported once. Lines are written at once:
 * there is nothing to flush at the end, which would wait for space.
 */
async function logFile(path: string, { stderr }: Pick<Io, "stderr">): Promise<(line: string) => void> {
  await makeFolder(dirname(path));
  const file = destination({ fd: openSync(path, "a"), sync: true, maxLength: maxUnwrittenBytes });
  let isReported = false;
  file.on("error", (error) => {
    if (!isReported) stderr(`error: cannot write the log to ${path}: ${failureText(error)}; lines of it are lost\n`);
    isReported = true;
  });
  return (line) => void file.write(line);
}
