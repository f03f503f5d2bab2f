import { styleText } from "node:util";
import { Recently } from "../../kube/recently.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { type LoggedLine, type Logger, loggerTo } from "../../util/logger.ts";
import { type Happening, happeningOf, type Recollection, type Tone } from "./sentences.ts";

export interface NarratorOptions {
  readonly tell: (line: string) => void;
  readonly clock: Clock;
  /** Whether a terminal shows it. */
  readonly isColoured: boolean;
  /** Dollars an hour of the machine with this provider id, where known. */
  readonly priceOf: (providerId: string) => number | undefined;
}

/** What happens to several within this time is told at once. */
const momentMs = 500;
/** How long what lasts is no news. */
const lastingMs = 10 * 60_000;
/** So many are called by name. */
const mostNames = 3;

interface Told {
  readonly happening: Happening;
  readonly who: string[];
  readonly at: number;
}

/** Tells a person what the controller does, from its log: in a few lines, with the reason. */
export class Narrator {
  readonly log: Logger = loggerTo((line) => this.#hear(line));
  readonly #options: NarratorOptions;
  readonly #awaited: Recollection["awaited"] = new Map();
  readonly #lasting: Recently<true>;
  #moment = new Map<string, Told>();
  #timer: Timer | undefined;

  constructor(options: NarratorOptions) {
    this.#options = options;
    this.#lasting = new Recently(options.clock);
  }

  /** Tells what is still to be told. */
  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const told = [...this.#moment.values()];
    this.#moment = new Map();
    for (const one of told) this.#tell(one);
  }

  #hear(line: LoggedLine): void {
    const { clock, priceOf } = this.#options;
    const now = clock.now();
    const happening = happeningOf(line, { now, priceOf, awaited: this.#awaited });
    if (happening === undefined || this.#isOldNews(happening)) return;
    const { kind, who } = happening;
    const told = this.#moment.get(kind);
    if (told === undefined) this.#moment.set(kind, { happening, who: [who], at: now });
    else told.who.push(who);
    this.#timer ??= clock.setTimer(momentMs, () => this.flush());
  }

  #isOldNews({ isLasting = false, kind, who }: Happening): boolean {
    const key = `${who} ${kind}`;
    if (!isLasting || this.#lasting.get(key) !== undefined) return isLasting;
    this.#lasting.set(key, true, lastingMs);
    return false;
  }

  #tell({ happening: { say, tone }, who, at }: Told): void {
    const { tell, isColoured } = this.#options;
    const text = say(listed(who), who.length);
    tell(`${new Date(at).toTimeString().slice(0, 8)} ${isColoured ? coloured(text, tone) : text}\n`);
  }
}

function listed(who: readonly string[]): string {
  const shown = who.slice(0, mostNames).join(", ");
  return who.length <= mostNames ? shown : `${shown} and ${who.length - mostNames} more`;
}

const colours = { good: "green", over: "dim", bad: "yellow" } as const;

function coloured(text: string, tone: Tone): string {
  return tone === "plain" ? text : styleText(colours[tone], text);
}
