import { type Mutant, withMutant } from "./mutant.ts";
import { type TestFileResult, TestSession } from "./test-session.ts";

/** What the main process asks of a worker process, and what it hears. */
export interface TryMutant {
  readonly mutant: Mutant;
  readonly tests: readonly string[];
}
export type WorkerMessage =
  | { readonly kind: "file-ended" }
  | { readonly kind: "tried"; readonly killer: TestFileResult | undefined };

/** Runs the tests of one mutant after another. The main process ends it when it hangs. */
export async function runMutantWorker(root: string): Promise<void> {
  let current: Mutant | undefined;
  const send = (message: WorkerMessage) => void process.send?.(message);
  const session = await TestSession.open({
    root,
    transform: (file, source) => (current?.file === file ? withMutant(source, current) : undefined),
    workers: 1,
    stopsAtFailure: true,
    onFileEnd: () => send({ kind: "file-ended" }),
  });
  process.on("message", async ({ mutant, tests }: TryMutant) => {
    current = mutant;
    session.forget(mutant.file);
    const first = await firstFailure(session, tests);
    // A test that waits for real time may fail on a busy machine without any mutant: its failure must repeat.
    const isDoubtful = first?.failure !== undefined && /time[d ]?.?out/i.test(first.message ?? "");
    const killer = first !== undefined && isDoubtful ? await firstFailure(session, [first.file]) : first;
    session.forget(mutant.file);
    send({ kind: "tried", killer });
  });
}

async function firstFailure(session: TestSession, tests: readonly string[]): Promise<TestFileResult | undefined> {
  if (tests.length === 0) return undefined;
  const results = await session.run(tests);
  return results.find(({ failure }) => failure !== undefined);
}
