const newline = 0x0a;

/**
 * The lines of a stream of bytes, wherever its chunks are cut: a newline byte is never part of a longer UTF-8
 * character, so lines are found among bytes and decoded whole. What follows the last newline is half a line and is
 * dropped: whoever reads asks for it again.
 */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const tail = chunk.subarray(start, end);
      yield pieces.length === 0 ? tail : joined([...pieces, tail]);
      pieces = [];
      start = end + 1;
    }
    if (start < chunk.length) pieces.push(chunk.slice(start)); // a copy: the sender may reuse its buffer
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
