import { type DestinationStream, destination } from "pino";
import type { Io } from "../io.ts";

export interface LogDestination extends DestinationStream {
  /** Writes what is still buffered; called before the process ends. */
  flush(): void;
}

/** The destinations of `--log-output-paths`: standard output, standard error, and files. */
export function logDestination(paths: readonly string[], io: Pick<Io, "stdout" | "stderr">): LogDestination {
  const files = paths
    .filter((path) => path !== "stdout" && path !== "stderr" && path !== "")
    .map((dest) => destination({ dest, mkdir: true, sync: false }));
  const writes = [
    ...(paths.includes("stdout") ? [io.stdout] : []),
    ...(paths.includes("stderr") ? [io.stderr] : []),
    ...files.map((file) => (line: string) => void file.write(line)),
  ];
  return {
    write: (line) => {
      for (const write of writes) write(line);
    },
    flush: () => {
      for (const file of files) file.flushSync();
    },
  };
}
