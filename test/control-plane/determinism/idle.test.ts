import { expect, it } from "vitest";
import { idleDay } from "./idle.ts";

it("05:CP-L10 a day of an idle cluster costs no writes, and its nodes stay ready", async () => {
  expect(await idleDay(5)).toEqual({ writesWhileIdle: 0, ready: 5 });
}, 60_000);
