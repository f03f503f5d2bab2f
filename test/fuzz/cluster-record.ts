import { createHash } from "node:crypto";
import type { KubeObject } from "../../src/api/object.ts";
import type { Journal, JournalEntry } from "../../src/control-plane/store/journal.ts";
import type { CloudCallEntry } from "../../src/providers/sim/simulated-cloud.ts";
import { WriteLog } from "../world/write-log.ts";

/** The cluster as it is, whatever any client believes, and the log of how it came to be so. (05:CP-T3) */
export class ClusterRecord implements Journal {
  /** A line for every write and every cloud call. */
  readonly lines: string[] = [];
  writes = 0;
  cloudCalls = 0;
  readonly #hash = createHash("sha256");
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #log: WriteLog;
  readonly #now: () => number;
  readonly #listeners: ((storage: string, object: KubeObject, old: KubeObject | undefined) => void)[] = [];

  constructor({ now }: { readonly now: () => number }) {
    this.#now = now;
    const hear = ({ line, body }: { readonly line: string; readonly body: string }) => this.#note(line, body);
    this.#log = new WriteLog({ now, onWrite: hear });
  }

  append(entry: JournalEntry): Promise<void> {
    this.writes++;
    if (entry.op === "put") {
      const known = this.#storage(entry.storage);
      const old = known.get(entry.key);
      known.set(entry.key, entry.object);
      for (const listener of this.#listeners) listener(entry.storage, entry.object, old);
    } else if (entry.op === "delete") this.#storage(entry.storage).delete(entry.key);
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

  onPut(listener: (storage: string, object: KubeObject, old: KubeObject | undefined) => void): void {
    this.#listeners.push(listener);
  }

  all<T extends KubeObject>(storage: string): readonly T[] {
    return [...this.#storage(storage).values()] as unknown as readonly T[];
  }

  get<T extends KubeObject>(storage: string, key: string): T | undefined {
    return this.#storage(storage).get(key) as T | undefined;
  }

  everything(): readonly KubeObject[] {
    return [...this.#objects.values()].flatMap((known) => [...known.values()]);
  }

  fingerprint(): string {
    return this.#hash.copy().digest("hex");
  }

  #note(line: string, body = ""): void {
    this.lines.push(line);
    this.#hash.update(`${line} ${body}\n`);
  }

  #storage(name: string): Map<string, KubeObject> {
    const known = this.#objects.get(name) ?? new Map<string, KubeObject>();
    this.#objects.set(name, known);
    return known;
  }
}
