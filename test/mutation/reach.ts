import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { withReachMarks } from "./functions.ts";
import { ImportGraph } from "./import-graph.ts";
import type { Mutant } from "./mutant.ts";
import { type ReachRecord, recordName } from "./reach-record.ts";
import { TestSession } from "./test-session.ts";

/** What one test file was seen to do when it last ran without a mutant. */
interface TestFileReach {
  /** Of its source: a test that was edited is looked at again. */
  readonly digest: string;
  /** What it computed, loading its modules included: unlike time it is the same on a busy machine. */
  readonly cpuMs: number;
  readonly failure: string | undefined;
  /** As `file#function`. */
  readonly functions: readonly string[];
}

type Reach = Readonly<Record<string, TestFileReach>>;

/** Which tests can notice a change of a function, and how long they take. */
export class ReachMap {
  readonly #tests: readonly (TestFileReach & { readonly file: string; readonly reached: ReadonlySet<string> })[];
  readonly #graph: ImportGraph;

  constructor(reach: Reach, root: string) {
    this.#tests = Object.entries(reach)
      .map(([file, test]) => ({ ...test, file, reached: new Set(test.functions) }))
      .filter(({ failure }) => failure === undefined);
    this.#graph = new ImportGraph(root);
  }

  cpuMs(file: string): number {
    return this.#tests.find((test) => test.file === file)?.cpuMs ?? 0;
  }

  /** The test files that run the code of a mutant: those whose paths have most words in common with it first, then the quick ones. */
  testsFor({ file, inFunction }: Mutant): readonly string[] {
    const isKnown = inFunction !== undefined && this.#tests.some(({ reached }) => reached.has(`${file}#${inFunction}`));
    const reaching = this.#tests.filter((test) =>
      isKnown ? test.reached.has(`${file}#${inFunction}`) : this.#graph.loadedBy(test.file).has(file),
    );
    return reaching
      .map((test) => ({ ...test, likeness: wordsInCommon(test.file, file) }))
      .toSorted((a, b) => b.likeness - a.likeness || a.cpuMs - b.cpuMs)
      .map((test) => test.file);
  }

  /** As many of these test files as compute so long together, but at least one; a long one gives way to those after it. */
  within(files: readonly string[], limitMs: number): readonly string[] {
    let totalMs = 0;
    return files.filter((file, at) => {
      const ms = this.cpuMs(file);
      if (at > 0 && totalMs + ms > limitMs) return false;
      totalMs += ms;
      return true;
    });
  }
}

/** `test/controllers/node/health.test.ts` has three words of `src/controllers/node/health.ts`. */
function wordsInCommon(one: string, other: string): number {
  const words = new Set(other.split(/\W+/));
  return new Set(one.split(/\W+/).filter((word) => word !== "src" && word !== "ts" && words.has(word))).size;
}

/** The map is written after so many: a run that is stopped goes on there. */
const filesAtOnce = 80;

/** The map of an earlier run, brought up to date: only test files that are new or edited run again, or all of them. */
export async function loadReach(options: {
  readonly root: string;
  readonly isFresh: boolean;
  readonly log: (line: string) => void;
}): Promise<ReachMap> {
  const { root, isFresh, log } = options;
  const path = join(root, "node_modules/.cache/mutation/reach.json");
  const earlier: Reach = !isFresh && existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
  const folder = mkdtempSync(join(tmpdir(), "karpenter-reach-"));
  process.env["REACH_FOLDER"] = folder;
  const session = await TestSession.open({
    root,
    transform: (file, source) =>
      file.startsWith("src/") && !file.endsWith(".test.ts") ? withReachMarks(source, file) : undefined,
    setupFiles: ["test/mutation/record-reach.ts"],
    workers: 2,
    stopsAtFailure: false,
  });
  try {
    const files = await session.testFiles();
    const digests = new Map(files.map((file) => [file, digestOf(join(root, file))]));
    const stale = files.filter(
      (file) => earlier[file]?.digest !== digests.get(file) || earlier[file]?.failure !== undefined,
    );
    if (stale.length > 0) log(`looking at what ${stale.length} of ${files.length} test files reach`);
    const known = new Map(Object.entries(earlier).filter(([file]) => digests.has(file)));
    for (let at = 0; at < stale.length; at += filesAtOnce) {
      for (const { file, durationMs, failure } of await session.run(stale.slice(at, at + filesAtOnce))) {
        if (failure !== undefined) log(`left out, it fails without any mutant: ${file} (${failure})`);
        const { cpuMs = durationMs, functions = [] } = recordOf(file, folder) ?? {};
        known.set(file, { digest: digests.get(file) ?? "", cpuMs, failure, functions });
      }
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, JSON.stringify(Object.fromEntries(known)));
    }
    return new ReachMap(Object.fromEntries(known), root);
  } finally {
    await session.close();
    rmSync(folder, { recursive: true });
  }
}

function digestOf(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex").slice(0, 16);
}

function recordOf(file: string, folder: string): ReachRecord | undefined {
  const path = join(folder, recordName(file));
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}
