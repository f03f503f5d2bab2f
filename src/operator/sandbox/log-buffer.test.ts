import { describe, expect, it } from "vitest";
import { LogBuffer } from "./log-buffer.ts";

const start = Date.parse("2026-01-01T00:00:00Z");

function written(...texts: readonly string[]) {
  let now = start;
  const book = new LogBuffer(() => now);
  for (const text of texts) {
    book.write(text);
    now += 1_000;
  }
  return book;
}

async function all(lines: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const line of lines) text += line;
  return text;
}

describe("the controller's log, for kubectl logs", () => {
  it("05 §1 shows what was written, or the end of it", async () => {
    const book = written("a", "b", "c");
    expect(await all(book.read({}))).toBe("a\nb\nc\n");
    expect(await all(book.read({ tailLines: 2 }))).toBe("b\nc\n");
    expect(await all(book.read({ tailLines: -1 }))).toBe("a\nb\nc\n");
    expect(await all(book.read({ tailLines: 0 }))).toBe("");
  });

  it("05 §1 shows what is recent, and when it was", async () => {
    const book = written("a", "b", "c");
    expect(await all(book.read({ sinceSeconds: 1 }))).toBe("c\n");
    expect(await all(book.read({ timestamps: true, tailLines: 1 }))).toBe("2026-01-01T00:00:02.000Z c\n");
  });

  it("05 §1 follows for as long as there is a reader", async () => {
    const book = written("a");
    const listener = new AbortController();
    const heard: string[] = [];
    const reading = (async () => {
      for await (const line of book.read({ follow: true, signal: listener.signal })) {
        heard.push(line);
        if (line === "a\n") book.write("b");
        else listener.abort();
      }
    })();
    await reading;
    expect(heard).toEqual(["a\n", "b\n"]);
  });

  it("drops the oldest lines, and a reader continues with those left", async () => {
    const book = new LogBuffer(() => start);
    for (let line = 0; line < 50_000; line++) book.write(String(line));
    const text = await all(book.read({}));
    const lines = text.trimEnd().split("\n");
    expect(lines.length).toBeGreaterThanOrEqual(20_000);
    expect(lines.length).toBeLessThanOrEqual(22_000);
    expect(lines.at(-1)).toBe("49999");
  });
});
