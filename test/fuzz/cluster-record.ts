import { createHash } from "node:crypto";
import type { JournalEntry } from "../../src/control-plane/store/journal.ts";
import type { CloudCallEntry } from "../../src/providers/sim/simulated-cloud.ts";
import { StoredObjects } from "../world/stored-objects.ts";
import { WriteLog } from "../world/write-log.ts";

/** The cluster as it is, whatever any client believes, and the log of how it came to be so. (05:CP-T3) */
export class ClusterRecord extends StoredObjects {
  /** A line for every write and every cloud call. */
  readonly lines: string[] = [];
  writes = 0;
  cloudCalls = 0;
  readonly #hash = createHash("sha256");
  readonly #log: WriteLog;
  readonly #now: () => number;

  constructor({ now }: { readonly now: () => number }) {
    super();
    this.#now = now;
    const hear = ({ line, body }: { readonly line: string; readonly body: string }) => this.#note(line, body);
    this.#log = new WriteLog({ now, onWrite: hear });
  }

  override append(entry: JournalEntry): Promise<void> {
    this.writes++;
    void super.append(entry);
    return this.#log.append(entry);
  }

  recordCloudCall({ call, about, outcome }: CloudCallEntry): void {
    this.cloudCalls++;
    this.#note(`${this.#now()} cloud ${call} ${about} ${outcome}`);
  }

  /** Something else that a run did. */
  recordNote(what: string): void {
    this.#note(`${this.#now()} ${what}`);
  }

  fingerprint(): string {
    return this.#hash.copy().digest("hex");
  }

  #note(line: string, body = ""): void {
    this.lines.push(line);
    this.#hash.update(`${line} ${body}\n`);
  }
}
