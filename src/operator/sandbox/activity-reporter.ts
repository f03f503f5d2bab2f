import { styleText } from "node:util";
import type { Clock, Timer } from "../../util/clock.ts";
import { ExpiringMap } from "../../util/expiring-map.ts";
import { type LoggedLine, type Logger, loggerTo } from "../../util/logger.ts";
import { type ActivityHistory, type ActivityTone, activityOf, plansNodes, type ReportedActivity } from "./activity.ts";

export interface ActivityReporterOptions {
  readonly print: (line: string) => void;
  readonly clock: Clock;
  /** Whether the output is a terminal. */
  readonly isColoured: boolean;
  /** Dollars per hour of the instance with this provider id, if known. */
  readonly priceOf: (providerId: string) => number | undefined;
  /** Why the pod, by namespace/name, has no node, as `karpenter explain` says first. */
  readonly causeOf?: ((pod: string) => Promise<string | undefined>) | undefined;
}

/** The same activity of several objects within this time becomes one line. */
const groupingMs = 500;
/** A repeating problem is printed again after this long. */
const repeatIntervalMs = 10 * 60_000;
/** At most this many names are printed. */
const maxNames = 3;

interface PendingActivity {
  readonly activity: ReportedActivity;
  readonly subjects: string[];
  readonly at: number;
}

/** Prints what the controller does, from its log: in a few lines, with the reason. */
export class ActivityReporter {
  readonly log: Logger = loggerTo((line) => this.#handleLine(line));
  readonly #options: ActivityReporterOptions;
  readonly #pendingClaims: ActivityHistory["pendingClaims"] = new Map();
  readonly #reportedRecently: ExpiringMap<true>;
  #pending = new Map<string, PendingActivity>();
  #timer: Timer | undefined;
  /** Ends when everything printed so far is printed; undefined if it is. */
  #explaining: Promise<void> | undefined;

  constructor(options: ActivityReporterOptions) {
    this.#options = options;
    this.#reportedRecently = new ExpiringMap(options.clock);
  }

  /** Prints all pending activity now. */
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
    if (plansNodes(line)) this.#withdrawRefusals();
    const activity = activityOf(line, { now, priceOf, pendingClaims: this.#pendingClaims });
    if (activity === undefined || this.#wasReportedRecently(activity)) return;
    const { kind, subject } = activity;
    const pending = this.#pending.get(kind);
    if (pending === undefined) this.#pending.set(kind, { activity, subjects: [subject], at: now });
    else pending.subjects.push(subject);
    this.#timer ??= clock.setTimer(groupingMs, () => this.flush());
  }

  /** A refusal that stays is logged again by the next round. (docs/designs/rounds.md) */
  #withdrawRefusals(): void {
    for (const [kind, { activity, subjects }] of this.#pending) {
      if (activity.isRefusal !== true) continue;
      this.#pending.delete(kind);
      for (const subject of subjects) this.#reportedRecently.delete(`${subject} ${kind}`);
    }
  }

  #wasReportedRecently({ isRepeating = false, kind, subject }: ReportedActivity): boolean {
    const key = `${subject} ${kind}`;
    if (!isRepeating || this.#reportedRecently.get(key) !== undefined) return isRepeating;
    this.#reportedRecently.set(key, true, repeatIntervalMs);
    return false;
  }

  #print(pending: PendingActivity): void {
    const { isExplained = false } = pending.activity;
    const [pod = ""] = pending.subjects;
    const cause = isExplained ? this.#options.causeOf?.(pod) : undefined;
    if (cause === undefined) this.inOrder(() => this.#printLine(pending));
    else this.#waitFor(cause.catch(() => undefined).then((text) => this.#printLine(pending, text)));
  }

  /** Prints now, or behind the lines whose cause is still being looked for. */
  inOrder(print: () => void): void {
    if (this.#explaining === undefined) print();
    else this.#waitFor(this.#explaining.then(print));
  }

  #waitFor(printing: Promise<void>): void {
    const all = Promise.all([this.#explaining, printing]).then(() => {
      if (this.#explaining === all) this.#explaining = undefined;
    });
    this.#explaining = all;
  }

  #printLine({ activity: { format, tone }, subjects, at }: PendingActivity, cause?: string): void {
    const { print, isColoured } = this.#options;
    const text = format(joinedSubjects(subjects), subjects.length, cause);
    print(`${new Date(at).toTimeString().slice(0, 8)} ${isColoured ? coloured(text, tone) : text}\n`);
  }
}

function joinedSubjects(subjects: readonly string[]): string {
  const shown = subjects.slice(0, maxNames).join(", ");
  return subjects.length <= maxNames ? shown : `${shown} and ${subjects.length - maxNames} more`;
}

const colours = { good: "green", over: "dim", bad: "yellow" } as const;

function coloured(text: string, tone: ActivityTone): string {
  return tone === "plain" ? text : styleText(colours[tone], text);
}
