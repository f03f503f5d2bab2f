/** A moment as API objects write it: UTC, whole seconds. */
export function rfc3339(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
