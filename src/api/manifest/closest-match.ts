/** The candidate closest to a mistyped word; undefined if none is close. */
export function closestMatch(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  // Up to a third of the letters may be wrong, and never all: beyond that a hint misleads more than it helps.
  const most = Math.min(Math.max(2, Math.floor((best?.length ?? 0) / 3)), word.length - 1);
  return bestDistance <= most ? best : undefined;
}

/** What to add to an error about an unknown word: `; did you mean NodePool?`, or nothing. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const near = closestMatch(word, candidates);
  return near === undefined ? "" : `; did you mean ${near}?`;
}

/** Levenshtein distance with two rows. Long words are cut: they are not typos. */
export function editDistance(a: string, b: string): number {
  const left = a.slice(0, 100);
  const right = b.slice(0, 100);
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const row = [i];
    for (let j = 1; j <= right.length; j++) {
      const substituted = (previous[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      row.push(Math.min(substituted, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[right.length] ?? 0;
}
