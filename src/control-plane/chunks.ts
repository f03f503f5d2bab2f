/** Joins parts to chunks of at least so many bytes, and a last one of fewer. */
export function* chunksOf(parts: Iterable<Uint8Array>, minBytes: number): Iterable<Buffer> {
  let next: Uint8Array[] = [];
  let bytes = 0;
  for (const part of parts) {
    next.push(part);
    bytes += part.length;
    if (bytes < minBytes) continue;
    yield Buffer.concat(next);
    next = [];
    bytes = 0;
  }
  yield Buffer.concat(next);
}
