/** A word as a shell takes it; quoted only if that is needed. */
export function shellQuoted(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
