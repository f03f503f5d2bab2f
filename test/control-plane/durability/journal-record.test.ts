import fc from "fast-check";
import { expect, it } from "vitest";
import {
  headerLine,
  type JournalRecord,
  readJournal,
  recordLine,
} from "../../../src/control-plane/store/journal-record.ts";
import { runs } from "../../runs.ts";

const text = fc.string({ unit: "binary", maxLength: 12 });
const revision = fc.nat();
const at = fc.nat();
const object = fc.dictionary(text, fc.oneof(text, fc.boolean(), fc.nat()), { noNullPrototype: true, maxKeys: 4 });
const entry = fc.oneof(
  fc.record({ op: fc.constant("put" as const), revision, storage: text, key: text, object }),
  fc.record({ op: fc.constant("delete" as const), revision, storage: text, key: text }),
  fc.record({ op: fc.constant("revision" as const), revision }),
);
const record = fc.record({ at, entry }) as unknown as fc.Arbitrary<JournalRecord>;
const journal = fc.array(record, { maxLength: 6 });

function written(records: readonly JournalRecord[]): Buffer {
  return Buffer.concat([headerLine(), ...records.map(recordLine)]);
}

/** How many whole records there are in so many bytes. */
function wholeIn(records: readonly JournalRecord[], bytes: number): number {
  let end = headerLine().length;
  return records.filter((one) => {
    end += recordLine(one).length;
    return end <= bytes;
  }).length;
}

it("05:CP-T5 reads back what was written", () => {
  fc.assert(
    fc.property(journal, (records) => {
      const bytes = written(records);
      expect(readJournal(bytes)).toEqual({ kind: "good", records, bytes: bytes.length, isTorn: false });
    }),
    { numRuns: runs(5_000) },
  );
}, 60_000);

it("05:CP-T5 drops a record cut short at any byte, and nothing else", () => {
  fc.assert(
    fc.property(journal, fc.nat(), (records, draw) => {
      const whole = written(records);
      const from = headerLine().length;
      const length = from + (draw % (whole.length - from + 1));
      const reading = readJournal(whole.subarray(0, length));
      expect(reading.kind).toBe("good");
      expect(reading.records).toEqual(records.slice(0, wholeIn(records, length)));
    }),
    { numRuns: runs(5_000) },
  );
}, 60_000);

it("05:CP-T5 notices any byte that changed before the last record, and names its line", () => {
  fc.assert(
    fc.property(
      fc.array(record, { minLength: 2, maxLength: 6 }),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      (records, draw, change) => {
        const bytes = written(records);
        const last = recordLine(records.at(-1) as JournalRecord).length;
        const at = draw % (bytes.length - last);
        const line = bytes.subarray(0, at).filter((byte) => byte === 10).length + 1;
        bytes[at] = (bytes[at] as number) ^ change;
        const reading = readJournal(bytes);
        expect(reading).toMatchObject({ kind: "damaged", line });
        expect(reading.records).toEqual(records.slice(0, Math.max(0, line - 2)));
      },
    ),
    { numRuns: runs(20_000) },
  );
}, 60_000);

it("05:CP-T5 does not take another file for a journal", () => {
  for (const bytes of ["", "{}\n", "hello", "\0\0\0\0", headerLine().toString().replace("1}", "2}")]) {
    expect(readJournal(Buffer.from(bytes))).toMatchObject({ kind: "damaged", line: 1, records: [] });
  }
});
