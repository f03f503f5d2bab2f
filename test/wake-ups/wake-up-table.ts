import type { Controller, UnwatchedRead } from "../../src/kube/controller.ts";
import { formatDurationMs } from "../../src/util/duration.ts";
import type { RecordedReads } from "./recorded-reads.ts";

/** What a controller read that neither wakes it nor is declared in its `reads`. */
export function undeclaredReads(controllers: readonly Controller[], recorded: RecordedReads): readonly string[] {
  return controllers.flatMap(({ name, reads = [] }) => {
    const { watched, read } = recorded.of(name);
    const declared = new Set(reads.map(sourceOf));
    return [...read]
      .filter((source) => !watched.has(source) && !declared.has(source))
      .map((source) => `${name} reads ${source}, which neither wakes it nor is polled`);
  });
}

/** The table of docs/designs/wake-ups.md. */
export function wakeUpTable(controllers: readonly Controller[], recorded: RecordedReads): string {
  const rows = controllers.map(({ name, reads = [] }) => {
    const watched = [...recorded.of(name).watched].sort().join(", ");
    const others = reads.filter((read) => !recorded.of(name).watched.has(sourceOf(read)));
    return `| ${name} | ${watched || "-"} | ${others.map(readText).join("; ") || "-"} |`;
  });
  const header = ["| controller | woken by | reads besides: within, because |", "|---|---|---|"];
  return [...header, ...[...new Set(rows)].sort()].join("\n");
}

function sourceOf({ of }: UnwatchedRead): string {
  return typeof of === "string" ? of : of.kind;
}

function readText(read: UnwatchedRead): string {
  const bound = read.withinMs === undefined ? "no bound" : formatDurationMs(read.withinMs);
  return `${sourceOf(read)}: ${bound}, ${read.because}`;
}
