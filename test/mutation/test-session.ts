import { join, relative } from "node:path";
import type { TestModule, Vitest } from "vitest/node";
import { BaseSequencer, createVitest, type TestSpecification } from "vitest/node";
import config from "../../vitest.config.ts";

/** How one test file ended. */
export interface TestFileResult {
  readonly file: string;
  readonly durationMs: number;
  /** The first test that failed in it, or that it could not be loaded. */
  readonly failure: string | undefined;
  readonly message?: string | undefined;
}

export interface TestSessionOptions {
  readonly root: string;
  /** Changes a source file as it is loaded; nothing is written to disk. */
  readonly transform: (file: string, source: string) => string | undefined;
  readonly setupFiles?: readonly string[];
  readonly workers: number;
  readonly stopsAtFailure: boolean;
  readonly onFileEnd?: (result: TestFileResult) => void;
}

/** vitest with the settings of tier 1, kept open from one run to the next so that unchanged files are compiled once. */
export class TestSession {
  readonly #vitest: Vitest;
  readonly #root: string;
  /** Of the current run: vitest itself remembers those of earlier runs too. */
  readonly #results: TestFileResult[];

  private constructor(vitest: Vitest, root: string, results: TestFileResult[]) {
    this.#vitest = vitest;
    this.#root = root;
    this.#results = results;
  }

  static async open(options: TestSessionOptions): Promise<TestSession> {
    const { root, transform, workers } = options;
    const tier1 = config.test?.projects?.[0];
    if (typeof tier1 !== "object" || !("test" in tier1))
      throw new Error("vitest.config.ts: the first project is tier 1");
    const { name: _, setupFiles, ...settings } = tier1.test ?? {};
    const results: TestFileResult[] = [];
    const record = (result: TestFileResult) => {
      results.push(result);
      options.onFileEnd?.(result);
    };
    const vitest = await createVitest(
      "test",
      {
        ...settings,
        root,
        config: false,
        watch: false,
        bail: options.stopsAtFailure ? 1 : 0,
        maxWorkers: workers,
        setupFiles: [setupFiles ?? [], options.setupFiles ?? []].flat(),
        reporters: [{ onTestModuleEnd: (module) => record(resultOf(module, root)) }],
        sequence: { sequencer: InGivenOrder },
        silent: true,
      },
      {
        plugins: [
          {
            name: "mutation",
            enforce: "pre",
            transform: (source, id) => transform(relative(root, id), source),
          },
        ],
        logLevel: "silent",
      },
    );
    return new TestSession(vitest, root, results);
  }

  async testFiles(): Promise<readonly string[]> {
    const specifications = await this.#vitest.globTestSpecifications();
    return specifications.map(({ moduleId }) => relative(this.#root, moduleId)).toSorted();
  }

  /** Compiles a file anew before the next run. */
  forget(file: string): void {
    this.#vitest.invalidateFile(join(this.#root, file));
  }

  /** Runs test files in this order. The answer has those that were run: after a failure none follows. */
  async run(files: readonly string[]): Promise<readonly TestFileResult[]> {
    const project = this.#vitest.projects[0];
    if (project === undefined) throw new Error("vitest has no project");
    const specifications = files.map((file) => project.createSpecification(join(this.#root, file)));
    this.#results.length = 0;
    const { unhandledErrors } = await this.#vitest.runTestSpecifications(specifications);
    const [error] = unhandledErrors;
    if (error === undefined) return [...this.#results];
    const failure = `unhandled: ${(error as { readonly message?: string }).message}`;
    return [...this.#results, { file: files.at(-1) ?? "", durationMs: 0, failure }];
  }

  async close(): Promise<void> {
    await this.#vitest.close();
  }
}

class InGivenOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files;
  }
}

function resultOf(module: TestModule, root: string): TestFileResult {
  const [failed] = module.children.allTests("failed");
  const failure = failed?.fullName ?? (module.state() === "failed" ? "could not be loaded" : undefined);
  const message = failed?.result()?.errors?.[0]?.message;
  const { duration, collectDuration, setupDuration } = module.diagnostic();
  return {
    file: relative(root, module.moduleId),
    durationMs: duration + collectDuration + setupDuration,
    failure,
    message,
  };
}
