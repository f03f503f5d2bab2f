import type { KubeObject } from "../../api/object.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { errorText } from "../../util/error-text.ts";
import type { Pause } from "../../util/pause.ts";
import type { Steps } from "../../util/steps.ts";
import type { NodePriceOf } from "./node-prices.ts";
import { PodUse } from "./pod-use.ts";
import { lastScroll, renderTopFrame } from "./render-top-frame.ts";
import { sortedRows } from "./sort-rows.ts";
import { drawFrame, enterScreen, leaveScreen, type Terminal } from "./terminal.ts";
import { noTopFindings, type TopFindings } from "./top-findings.ts";
import { afterKey, type TopScreenState, terminalKeys } from "./top-screen-state.ts";
import { topClusterOf, topPrices, topViewOf } from "./top-view.ts";

/** What is known of the cluster now. */
interface WatchedSource {
  readonly objects: () => readonly KubeObject[];
  readonly status: () => string;
}

/** What is found out about objects; undefined where nothing can be, with a note. */
export interface TopStudy {
  readonly steps?: Steps<TopFindings> | undefined;
  readonly notes: readonly string[];
}

export interface TopLiveOptions {
  readonly terminal: Terminal;
  readonly source: WatchedSource;
  readonly study: (objects: readonly KubeObject[]) => Promise<TopStudy>;
  /** Resolves once the cluster has been read; if it cannot be, the screen is left and the error thrown. */
  readonly ready: Promise<void>;
  readonly clock: Clock;
  readonly pause: Pause;
  readonly color: boolean;
  readonly sort: TopScreenState["sort"];
  readonly notes: () => readonly string[];
}

/** Changes are drawn together: nobody reads faster. */
const redrawMs = 500;
/** Ages and reasons change without events. */
const refreshMs = 5_000;
/** At most a fifth of the time is spent on reading many objects: the rest is for keys and watches. */
const restPerRead = 4;
/** Reasons are found out again this long after the last time, or ten times as long as it took. */
const studyMs = 10_000;

/** A screen that shows a cluster until the user quits. */
export class TopScreen {
  readonly #options: TopLiveOptions;
  readonly #use = new PodUse();
  readonly #stop = new AbortController();
  #state: TopScreenState;
  #findings: TopFindings = noTopFindings;
  #priceOf: NodePriceOf = () => undefined;
  #notes: readonly string[] = [];
  #view: ReturnType<typeof topViewOf> | undefined;
  #timer: Timer | undefined;
  #isChanged = true;

  constructor(options: TopLiveOptions) {
    this.#options = options;
    this.#state = { scroll: 0, sort: options.sort };
  }

  /** Something about the cluster is different now. */
  changed(): void {
    this.#isChanged = true;
  }

  /** Draws until the user quits, then gives the terminal back whatever happened. */
  async run(): Promise<void> {
    const { terminal } = this.#options;
    terminal.write(enterScreen);
    try {
      terminal.onInput((data) => this.#onInput(data));
      terminal.onResize(() => this.#draw());
      terminal.onStop(() => this.#stop.abort());
      this.#refresh();
      await Promise.race([aborted(this.#stop.signal), this.#studyAgainAndAgain()]);
    } finally {
      this.#stop.abort();
      this.#timer?.cancel();
      terminal.close();
      terminal.write(leaveScreen);
    }
  }

  /** Draws now, and again when something has changed or time has passed. */
  #refresh(): void {
    const { clock } = this.#options;
    let readAt = Number.NEGATIVE_INFINITY;
    const tick = (): void => {
      if (this.#stop.signal.aborted) return;
      const startedAt = clock.now();
      if (this.#isChanged || startedAt - readAt >= refreshMs) {
        readAt = startedAt;
        this.#isChanged = false;
        this.#readView();
        this.#draw();
      }
      const restMs = restPerRead * (clock.now() - startedAt);
      this.#timer = clock.setTimer(Math.max(redrawMs, restMs), tick);
    };
    tick();
  }

  #readView(): void {
    const { source, clock, notes } = this.#options;
    this.#view = topViewOf(topClusterOf(source.objects()), {
      priceOf: this.#priceOf,
      reasons: this.#findings.reasons,
      use: this.#use,
      nowMs: clock.now(),
      sort: this.#state.sort,
      notes: [...notes(), ...this.#notes],
    });
  }

  #draw(): void {
    const { terminal, source, color } = this.#options;
    if (this.#view === undefined || this.#stop.signal.aborted) return;
    const frame = { size: terminal.size(), state: this.#state, color, status: source.status() };
    terminal.write(drawFrame(renderTopFrame(this.#view, frame)));
  }

  #onInput(data: string): void {
    for (const key of terminalKeys(data)) this.#onKey(key);
    this.#draw();
  }

  #onKey(key: string): void {
    const size = this.#options.terminal.size();
    const last = this.#view === undefined ? 0 : lastScroll(this.#view, size);
    const next = afterKey(this.#state, key, { pageRows: Math.max(1, size.rows - 8), lastScroll: last });
    if (next === "quit") {
      this.#stop.abort();
      return;
    }
    const isSorted = next.sort !== this.#state.sort;
    this.#state = next;
    if (isSorted && this.#view !== undefined) {
      this.#view = { ...this.#view, rows: sortedRows(this.#view.rows, next.sort) };
    }
  }

  /** Finding out why nodes stay may take long; it yields to keys and watches, and never runs twice at once. */
  async #studyAgainAndAgain(): Promise<void> {
    const { clock, ready } = this.#options;
    await ready;
    while (!this.#stop.signal.aborted) {
      const startedAt = clock.now();
      try {
        await this.#study();
      } catch (error) {
        this.#notes = [`why nodes stay is not known: ${errorText(error)}`];
      }
      this.#isChanged = true;
      const restMs = Math.max(studyMs, 10 * (clock.now() - startedAt));
      await clock.sleep(restMs, this.#stop.signal).catch(() => undefined); // stopped: the loop ends
    }
  }

  async #study(): Promise<void> {
    const { source, study, pause } = this.#options;
    const objects = source.objects();
    const { steps, notes } = await study(objects);
    const findings = steps === undefined ? noTopFindings : await this.#runSteps(steps, pause);
    if (findings === undefined) return;
    const prices = await topPrices(topClusterOf(objects), findings);
    this.#findings = findings;
    this.#priceOf = prices.priceOf;
    this.#notes = [...notes, ...prices.notes];
  }

  /** Undefined if the user quit meanwhile. */
  async #runSteps(steps: Steps<TopFindings>, pause: Pause): Promise<TopFindings | undefined> {
    for (let step = steps.next(); !this.#stop.signal.aborted; step = steps.next()) {
      if (step.done === true) return step.value;
      const pausing = pause();
      if (pausing !== undefined) await pausing;
    }
    return undefined;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
