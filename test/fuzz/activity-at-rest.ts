import { parseNillableDurationMs } from "../../src/util/duration.ts";
import { storages } from "../world/stored-objects.ts";
import type { Claim } from "./call-checks.ts";
import type { FuzzWorld } from "./world.ts";

/** When the last look began. */
export interface RestStart {
  readonly at: number;
  readonly writes: number;
}

/** A machine for each of its pods, some that were lost, and no more. */
const launchesPerPod = 6;
/** Where nothing can be bought, how often an hour that is found out again: once in three minutes, once a minute. */
const triesPerHour = { pods: 25, statics: 65 };
/** Replicas of the one static pool there may be. */
const mostStatics = 5;
const leastBound = 50;
const mostWritesAtRest = 100;
/** Lines of the log that repeat themselves for as long as there is a reason. */
const mayRepeat = [
  /is protected: it is asked again later/,
  /disruption budget/,
  /ignoring nodepool, not ready/,
  /could not schedule pod/,
  /resource usage exceeds limit/,
];

/** What goes on where nothing should. */
export function activityAtRest(world: FuzzWorld, rest: RestStart): readonly string[] {
  return [...excessiveWrites(world, rest), ...repeatedErrors(world, rest)];
}

function excessiveWrites(
  { record, checks, cloud, clock, launched, startedAt }: FuzzWorld,
  { at, writes }: RestStart,
): readonly string[] {
  const isAging = [...record.all<Claim>(storages.claims)].some(
    ({ spec }) => typeof parseNillableDurationMs(spec.expireAfter) === "number",
  );
  const pods = new Set(record.lines.filter((line) => / put pods /.test(line)).map((line) => line.split(" ")[4])).size;
  const hours = (clock.now() - startedAt) / 3_600_000;
  const launches = leastBound + launchesPerPod * (pods + mostStatics);
  const tries = launches + hours * (triesPerHour.pods * pods + triesPerHour.statics * mostStatics);
  const late = checks.creations.filter((one) => one.at >= at);
  const wrote = checks.writes - writes;
  return [
    ...(launched.size > launches ? [`${launched.size} launches for ${pods} pods`] : []),
    ...(checks.creations.length > tries ? [`${checks.creations.length} NodeClaims for ${pods} pods`] : []),
    ...(late.length > 0 && !isAging
      ? [`${late.length} NodeClaims made at rest, the last of ${late.at(-1)?.pool}`]
      : []),
    ...(wrote > mostWritesAtRest + 5 * cloud.records().length && !isAging ? [`${wrote} writes at rest`] : []),
  ];
}

function repeatedErrors({ lines }: FuzzWorld, { at }: RestStart): readonly string[] {
  const said = new Map<string, number>();
  for (const { level, message, values, at: when } of lines) {
    if (level !== "error" || when < at) continue;
    const text = `${message} ${values["controller"] ?? ""}: ${String(values["error"] ?? "")}`;
    if (mayRepeat.some((pattern) => pattern.test(text))) continue;
    said.set(text, (said.get(text) ?? 0) + 1);
  }
  return [...said].map(([text, times]) => `logged ${times} times at rest: ${text}`);
}
