import { readdirSync, readFileSync } from "node:fs";

const ticksPerSecond = 100;

/** What the processes of a group and those they have waited for have computed; undefined where the system does not say. */
export function cpuMsOfGroup(group: number): number | undefined {
  try {
    const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return ids.reduce((sum, id) => sum + cpuMsOf(id, group), 0);
  } catch {
    return undefined;
  }
}

function cpuMsOf(id: string, group: number): number {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, "utf8");
    // The name of the program, in parentheses, may have spaces; the third field follows it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (Number(fields[2]) !== group) return 0;
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return (ticks * 1_000) / ticksPerSecond;
  } catch {
    return 0; // it has ended meanwhile
  }
}
