/** A time as API objects write it: RFC 3339 in UTC, whole seconds. */
export function rfc3339(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** With microseconds, as Leases write it. */
export function rfc3339Micro(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`;
}
