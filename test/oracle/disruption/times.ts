import type { Draw } from "../../differential/draw.ts";

/** Commands are checked again so many seconds after they were found. */
const validationDelay = 15;

/** So many seconds before the time of the problem. */
export function secondsBefore(now: string, seconds: number): string {
  return new Date(Date.parse(now) - seconds * 1000).toISOString().replace(".000", "");
}

/** When something began that lasts so many seconds: mostly any time, sometimes so that it ends now or until the command is checked. */
export function beganBefore(draw: Draw, now: string, lastsSeconds: number): string {
  const atBoundary = lastsSeconds - draw.pick([-1, 0, 1, 10, validationDelay, validationDelay + 1]);
  const anyTime = draw.count(1, 2 * lastsSeconds + 60);
  return secondsBefore(now, draw.chance(0.4) ? atBoundary : anyTime);
}
