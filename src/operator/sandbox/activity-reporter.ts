import { styleText } from "node:util";
import { ExpiringMap } from "../../kube/expiring-map.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { type LoggedLine, type Logger, loggerTo } from "../../util/logger.ts";
import { type ActivityContext, type ActivityTone, activityOf, type ReportedActivity } from "./activity.ts";

export interface ActivityReporterOptions {
  readonly print: (line: string) => void;
  readonly clock: Clock;
  /** Whether a terminal shows it. */
  readonly isColoured: boolean;
  /** Dollars an hour of the machine with this provider id, where known. */
  readonly priceOf: (providerId: string) => number | undefined;
}

/** What happens to several within this time is told at once. */
const groupingMs = 500;
/** How long what lasts is no news. */
const repeatIntervalMs = 10 * 60_000;
/** So many are called by name. */
const maxNames = 3;

interface PendingActivity {
  readonly activity: ReportedActivity;
  readonly who: string[];
  readonly at: number;
}

/** Tells a person what the controller does, from its log: in a few lines, with the reason. */
export class ActivityReporter {
  readonly log: Logger = loggerTo((line) => this.#handleLine(line));
  readonly #options: ActivityReporterOptions;
  readonly #pendingClaims: ActivityContext["pendingClaims"] = new Map();
  readonly #reportedRecently: ExpiringMap<true>;
  #pending = new Map<string, PendingActivity>();
  #timer: Timer | undefined;

  constructor(options: ActivityReporterOptions) {
    this.#options = options;
    this.#reportedRecently = new ExpiringMap(options.clock);
  }

  /** Tells what is still to be told. */
  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const pending = [...this.#pending.values()];
    this.#pending = new Map();
    for (const one of pending) this.#print(one);
  }

  #handleLine(line: LoggedLine): void {
    const { clock, priceOf } = this.#options;
    const now = clock.now();
    const activity = activityOf(line, { now, priceOf, pendingClaims: this.#pendingClaims });
    if (activity === undefined || this.#wasReportedRecently(activity)) return;
    const { kind, who } = activity;
    const pending = this.#pending.get(kind);
    if (pending === undefined) this.#pending.set(kind, { activity, who: [who], at: now });
    else pending.who.push(who);
    this.#timer ??= clock.setTimer(groupingMs, () => this.flush());
  }

  #wasReportedRecently({ isRepeating = false, kind, who }: ReportedActivity): boolean {
    const key = `${who} ${kind}`;
    if (!isRepeating || this.#reportedRecently.get(key) !== undefined) return isRepeating;
    this.#reportedRecently.set(key, true, repeatIntervalMs);
    return false;
  }

  #print({ activity: { format, tone }, who, at }: PendingActivity): void {
    const { print, isColoured } = this.#options;
    const text = format(joinedSubjects(who), who.length);
    print(`${new Date(at).toTimeString().slice(0, 8)} ${isColoured ? coloured(text, tone) : text}\n`);
  }
}

function joinedSubjects(who: readonly string[]): string {
  const shown = who.slice(0, maxNames).join(", ");
  return who.length <= maxNames ? shown : `${shown} and ${who.length - maxNames} more`;
}

const colours = { good: "green", over: "dim", bad: "yellow" } as const;

function coloured(text: string, tone: ActivityTone): string {
  return tone === "plain" ? text : styleText(colours[tone], text);
}
