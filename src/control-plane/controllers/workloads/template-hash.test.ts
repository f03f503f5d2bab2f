import { describe, expect, it } from "vitest";
import { templateHash } from "./template-hash.ts";

describe("hashes of templates", () => {
  it("05:CP-L1 are the same whatever the order of keys, and another for another template", () => {
    const template = { metadata: { labels: { a: "1", b: "2" } }, spec: { containers: [{ name: "x" }, { name: "y" }] } };
    const reordered = {
      spec: { containers: [{ name: "x" }, { name: "y" }] },
      metadata: { labels: { b: "2", a: "1" } },
    };
    const swapped = { ...template, spec: { containers: [{ name: "y" }, { name: "x" }] } };
    expect(templateHash(reordered)).toBe(templateHash(template));
    expect(templateHash(swapped)).not.toBe(templateHash(template));
    expect(templateHash(template, 1)).not.toBe(templateHash(template));
    expect(templateHash({ ...template, extra: undefined })).toBe(templateHash(template));
  });

  it("05:CP-L1 stay what they are: names of sets that exist depend on it", () => {
    expect(templateHash({ spec: { containers: [{ name: "main", image: "app:1" }] } })).toBe("7d448d5965");
  });
});
