import { beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "../../util/virtual-clock.ts";
import { NodeOpenings } from "./node-openings.ts";

describe("02:L-48 Nodes that open in batches", () => {
  let clock: VirtualClock;
  let openings: NodeOpenings;
  let done: string[];
  beforeEach(() => {
    clock = new VirtualClock({ startAt: 0 });
    openings = new NodeOpenings(clock);
    done = [];
  });

  interface Writes {
    readonly nominateMs?: number;
    readonly refusal?: Error;
  }
  const open = (node: string, { nominateMs = 100, refusal }: Writes = {}): Promise<void> =>
    openings.open({
      nominate: async () => {
        await clock.sleep(nominateMs);
        done.push(`${clock.now()} nominated ${node}`);
      },
      open: async () => {
        if (refusal !== undefined) throw refusal;
        await clock.sleep(10);
        done.push(`${clock.now()} opened ${node}`);
      },
    });

  it("open together once the pods of all are nominated", async () => {
    void open("a", { nominateMs: 50 });
    void open("b");
    await clock.advance(200);
    expect(done).toEqual(["50 nominated a", "100 nominated b", "110 opened a", "110 opened b"]);
  });

  it("wait while the pods of others are nominated, and go on without them if no answer comes", async () => {
    void open("a", { nominateMs: 60_000 });
    await clock.advance(1);
    void open("b");
    await clock.advance(4_998);
    expect(done).toEqual([]);
    await clock.advance(111);
    expect(done).toEqual(["5100 nominated b", "5110 opened b"]);
    await clock.advance(60_000);
    expect(done.slice(2)).toEqual(["60000 nominated a", "60010 opened a"]);
  });

  it("fail alone: the others open, and so does the next batch", async () => {
    const refusal = new Error("no");
    const refused = expect(open("a", { refusal })).rejects.toBe(refusal);
    void open("b");
    await clock.advance(200);
    await refused;
    void open("c");
    await clock.advance(200);
    expect(done.filter((line) => line.includes("opened"))).toEqual(["110 opened b", "310 opened c"]);
  });
});
