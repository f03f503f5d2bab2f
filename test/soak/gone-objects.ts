import { appendFileSync, readFileSync, rmSync } from "node:fs";
import type { KubeObject } from "../../src/api/object.ts";
import type { Journal, JournalEntry } from "../../src/control-plane/store/journal.ts";

interface LiveObject {
  readonly uid: string;
  readonly name: string;
}

/**
 * Remembers in a file, and not in the heap that is looked at, which objects are gone and since when. The API server
 * calls it for every write.
 */
export class GoneObjects implements Journal {
  readonly #path: string;
  readonly #now: () => number;
  readonly #live = new Map<string, LiveObject>();
  #unsaved: string[] = [];

  constructor({ path, now }: { readonly path: string; readonly now: () => number }) {
    this.#path = path;
    this.#now = now;
  }

  append(entry: JournalEntry): Promise<void> {
    if (entry.op === "put") this.#put(`${entry.storage} ${entry.key}`, entry.object);
    else if (entry.op === "delete") this.#delete(`${entry.storage} ${entry.key}`);
    return Promise.resolve();
  }

  /** Uids and names of objects that were deleted before a time, except names that are in use again. */
  goneBefore(time: number): ReadonlySet<string> {
    this.#save();
    const live = new Set([...this.#live.values()].flatMap(({ uid, name }) => [uid, name]));
    const gone = new Set<string>();
    for (const line of readFileSync(this.#path, "utf8").split("\n")) {
      const [at = "", uid = "", name = ""] = line.split(" ");
      if (line === "" || Number(at) >= time) continue;
      for (const word of [uid, name]) if (!live.has(word)) gone.add(word);
    }
    return gone;
  }

  close(): void {
    rmSync(this.#path, { force: true });
  }

  #put(key: string, { metadata: { uid = "", name = "" } }: KubeObject): void {
    if (this.#live.get(key)?.uid !== uid) this.#delete(key);
    this.#live.set(key, { uid, name });
  }

  #delete(key: string): void {
    const known = this.#live.get(key);
    if (known === undefined) return;
    this.#live.delete(key);
    this.#unsaved.push(`${this.#now()} ${known.uid} ${known.name}\n`);
    if (this.#unsaved.length > 1_000) this.#save();
  }

  #save(): void {
    appendFileSync(this.#path, this.#unsaved.join(""));
    this.#unsaved = [];
  }
}
