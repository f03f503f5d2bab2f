/** The last second that RFC 3339 can write. */
const lastMs = Date.parse("9999-12-31T23:59:59Z");

/** A time as API objects write it: RFC 3339 in UTC, whole seconds. Later times than it can write are its last one. */
export function rfc3339(ms: number): string {
  return `${new Date(Math.min(ms, lastMs)).toISOString().slice(0, 19)}Z`;
}

/** With microseconds, as Leases write it. */
export function rfc3339Micro(ms: number): string {
  return `${new Date(Math.min(ms, lastMs)).toISOString().slice(0, 23)}000Z`;
}
