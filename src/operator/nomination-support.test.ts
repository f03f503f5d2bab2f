import { describe, expect, it } from "vitest";
import type { ServerVersion } from "../kube/server-version.ts";
import { silentLogger } from "../util/logger.ts";
import { VirtualClock } from "../util/virtual-clock.ts";
import { nominationSupport } from "./nomination-support.ts";

function supportOf(serverVersion: (() => Promise<ServerVersion>) | undefined) {
  const clock = new VirtualClock({ startAt: 0 });
  const { signal } = new AbortController();
  return { clock, isSupported: nominationSupport({ serverVersion, clock, log: silentLogger, signal }) };
}

describe("02:L-40 whether pods are nominated", () => {
  it.each([
    [{ major: 1, minor: 35 }, true],
    [{ major: 1, minor: 36 }, true],
    [{ major: 2, minor: 0 }, true],
    [{ major: 1, minor: 34 }, false],
    [undefined, false],
  ] as const)("02:L-40 on version %j: %s", async (version, expected) => {
    const { clock, isSupported } = supportOf(version && (async () => version));
    await clock.advance(0);
    expect(isSupported()).toBe(expected);
  });

  it("02:L-40 a server that does not answer is asked again", async () => {
    let calls = 0;
    const { clock, isSupported } = supportOf(async () => {
      if (++calls < 3) throw new Error("not yet");
      return { major: 1, minor: 36 };
    });
    await clock.advance(4_000);
    expect(isSupported()).toBe(false);
    await clock.advance(10_000);
    expect([isSupported(), calls]).toEqual([true, 3]);
  });
});
