import type { Mutant } from "./mutant.ts";
import type { Trial } from "./worker-process.ts";

export interface Tried {
  readonly mutant: Mutant;
  readonly trial: Trial;
}

/** The survivors, then how many of the mutants were noticed: by folder and in all. A test that never ends notices too. */
export function scoreLines(tried: readonly Tried[], textOf: (mutant: Mutant) => string): readonly string[] {
  const survivors = tried.filter(({ trial }) => !isNoticed(trial));
  const folders = [...new Set(tried.map(({ mutant }) => folderOf(mutant)))].toSorted();
  return [
    ...(survivors.length === 0 ? [] : ["", "Not noticed:"]),
    ...survivors.map(
      ({ mutant, trial }) => `  ${textOf(mutant)}${trial.kind === "not-reached" ? " (no test runs it)" : ""}`,
    ),
    "",
    ...folders.map((folder) =>
      scoreLine(
        folder,
        tried.filter(({ mutant }) => folderOf(mutant) === folder),
      ),
    ),
    scoreLine("all", tried),
  ];
}

function isNoticed({ kind }: Trial): boolean {
  return kind === "killed" || kind === "timed-out";
}

/** `src/core`, whatever is below it. */
function folderOf({ file }: Mutant): string {
  return file.split("/").slice(0, 2).join("/");
}

function scoreLine(name: string, tried: readonly Tried[]): string {
  const noticed = tried.filter(({ trial }) => isNoticed(trial)).length;
  const percent = tried.length === 0 ? 100 : Math.round((100 * noticed) / tried.length);
  return `${name.padEnd(20)} ${String(noticed).padStart(4)} of ${String(tried.length).padStart(4)}  ${percent} %`;
}
