import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readMimeArchive, writeMimeArchive } from "./mime-archive.ts";

const line = fc
  .oneof(fc.string(), fc.constantFrom("", "--//", "--//--", "--//1", "-- //", "Content-Type: x/y"))
  .map((text) => text.replaceAll(/[\r\n]/g, ""));
const part = fc.record({
  headers: fc.constantFrom(["Content-Type: text/x-shellscript"], ["Content-Type: a/b", "X-Other: 1"]),
  content: fc.array(line, { maxLength: 6 }).map((lines) => lines.join("\n")),
});

describe("MIME archives", () => {
  it("04 §9.3 any parts are read as they were written", () => {
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
        expect(readMimeArchive(writeMimeArchive(parts))).toEqual({ kind: "ok", parts });
      }),
    );
  });

  it("04 §1.9 any text is read or refused, never thrown at", () => {
    fc.assert(
      fc.property(
        fc.array(line).map((lines) => lines.join("\n")),
        (text) => {
          expect(["ok", "error"]).toContain(
            readMimeArchive(`Content-Type: multipart/mixed; boundary="//"\n${text}`).kind,
          );
        },
      ),
    );
  });
});
