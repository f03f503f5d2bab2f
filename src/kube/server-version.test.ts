import { describe, expect, it } from "vitest";
import { parseServerVersion } from "./server-version.ts";

describe("02:L-40 the version of the API server", () => {
  it("02:L-40 is read with what clouds append to it", () => {
    expect(parseServerVersion({ major: "1", minor: "35" })).toEqual({ major: 1, minor: 35 });
    expect(parseServerVersion({ major: "1", minor: "33+" })).toEqual({ major: 1, minor: 33 });
  });

  it.each([undefined, null, "v1.35", {}, { major: "1" }, { major: "", minor: "35" }])(
    "02:L-40 is unknown if the answer is %j",
    (body) => {
      expect(() => parseServerVersion(body)).toThrow("does not report its version");
    },
  );
});
