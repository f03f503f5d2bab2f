const msPerNode = 80;
const minTimeoutMs = 10 * 60_000;
const maxTimeoutMs = 60 * 60_000;

/** How long a command may wait for its replacements: more nodes in commands need more time. (03:D-76) */
export function commandTimeoutMs(nodesInCommands: number): number {
  return Math.min(maxTimeoutMs, Math.max(minTimeoutMs, msPerNode * nodesInCommands));
}
