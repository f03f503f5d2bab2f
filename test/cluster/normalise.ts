import type { Ended } from "../kubectl/kubectl.ts";

/** What differs between any two runs, made equal: ages, times, uids, versions, hosts and paths; column widths with them. */
export function normalised(ended: Ended | undefined): string {
  if (ended === undefined) return "not run";
  const text = `${ended.stdout}\n${ended.stderr}\nexit ${ended.code}`;
  return text
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000)?/g, "TIME")
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "UID")
    .replace(/(resourceVersion"?: ?"?|Resource Version: +)\d+/g, "$1VERSION")
    .replace(/https:\/\/127\.0\.0\.1:\d+/g, "SERVER")
    .replace(/\/tmp\/[\w./-]+/g, "PATH")
    .replace(/(?<=\s)\d+[smh](\d+[smh])?(?=\s|$)/gm, "AGE")
    .replace(/[ \t]+/g, " ")
    .replace(/ $/gm, "")
    .trim();
}
