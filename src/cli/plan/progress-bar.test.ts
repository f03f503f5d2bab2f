import { expect, it } from "vitest";
import { fakeIo } from "../../../test/conversion/fake-io.ts";
import { progressBar } from "./progress-bar.ts";

function shown({ isTty }: { isTty: boolean }): string {
  const io = fakeIo({ isTty });
  let time = 0;
  const bar = progressBar("planning", { io, now: () => time });
  for (const done of [0, 1, 2, 3, 4]) {
    bar.show(done, 4);
    time += 60;
  }
  bar.clear();
  return io.err();
}

it("shows progress, redraws at most every 100 ms, and clears the line", () => {
  const bars = shown({ isTty: true }).split("\r\u001b[K");
  expect(bars).toEqual([
    "",
    `planning [${"#".repeat(15)}${".".repeat(15)}]  50%`,
    `planning [${"#".repeat(30)}] 100%`,
    "",
  ]);
});

it("draws nothing unless standard output is a terminal", () => {
  expect(shown({ isTty: false })).toBe("");
});
