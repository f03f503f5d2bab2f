import { type DestinationStream, destination } from "pino";
import type { Io } from "../io.ts";

export interface LogDestination extends DestinationStream {
  /** Whatever is still on its way, before the process ends. */
  flush(): void;
}

/** Where `--log-output-paths` says: the two streams of the process, and files. */
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
