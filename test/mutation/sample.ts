import { Random } from "../../src/util/random.ts";
import type { Mutant } from "./mutant.ts";

/** Draws lines, each as likely as any other that can be changed, and of each line one change: long files weigh more. */
export function sampleMutants(mutants: readonly Mutant[], count: number, seed: string): readonly Mutant[] {
  const random = new Random(seed);
  const lines = linesOf(mutants);
  const drawn: Mutant[] = [];
  while (drawn.length < count && lines.length > 0) {
    const line = random.pick(lines);
    lines.splice(lines.indexOf(line), 1);
    drawn.push(random.pick(line));
  }
  return drawn;
}

function linesOf(mutants: readonly Mutant[]): (readonly Mutant[])[] {
  const lines = new Map<string, Mutant[]>();
  for (const mutant of mutants) {
    const key = `${mutant.file}:${mutant.line}`;
    const line = lines.get(key);
    if (line === undefined) lines.set(key, [mutant]);
    else line.push(mutant);
  }
  return [...lines.values()];
}
