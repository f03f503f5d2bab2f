import { Random } from "../../../util/random.ts";

/**
 * The order in which equally good domains of a key are tried. It is shuffled, because in a fixed order a domain that
 * always fails could come first in every round, and seeded, because the same problem has the same answer. (02 §12.1-3)
 */
export function tieBreakOrder(key: string, domains: Iterable<string>, seed: number): readonly string[] {
  return new Random(seed).fork(`domains/${key}`).shuffle([...new Set(domains)].sort());
}
