import { describe, expect, it } from "vitest";
import { dnsLabelError, dnsSubdomainError, labelValueError, qualifiedNameError } from "./names.ts";

const label = (length: number) => "a".repeat(length);
const subdomain = (length: number) =>
  Array.from({ length }, (_, at) => (at % 60 === 59 && at < length - 1 ? "." : "a")).join("");

describe("names", () => {
  it.each([
    "a",
    "A",
    "test",
    "test.com/test",
    "test.com.com/Test_a.b-c",
    "1/2",
    `${subdomain(253)}/a`,
    label(63),
    `a.b/${label(63)}`,
  ])("01 §0.2 %s is a qualified name", (text) => {
    expect(qualifiedNameError(text)).toBeUndefined();
  });

  it.each([
    ["", "empty"],
    ["test.com.com}", "begin and end"],
    ["Test.com/test", "prefix"],
    ["test/test/test", "more than one"],
    ["test/", "empty"],
    ["/test", "prefix is empty"],
    ["a b", "begin and end"],
    ["-a", "begin and end"],
    ["a-", "begin and end"],
    ["a\n", "begin and end"],
    [label(64), "64 characters"],
    [`${subdomain(254)}/a`, "254 characters"],
    ["a..b/c", "prefix"],
  ])("01 §0.2 %j is none", (text, reason) => {
    expect(qualifiedNameError(text)).toContain(reason);
  });

  it.each(["", "a", "A.b-c_d", label(63)])("01 §0.2 %j is a label value", (text) => {
    expect(labelValueError(text)).toBeUndefined();
  });

  it.each(["a/b", "-a", "a ", "$", label(64), "a\n"])("01 §0.2 %j is no label value", (text) => {
    expect(labelValueError(text)).toBeDefined();
  });

  it("DNS-1123 labels have no dots, subdomains do", () => {
    expect(dnsLabelError("a-1")).toBeUndefined();
    expect(dnsLabelError("a.b")).toBeDefined();
    expect(dnsLabelError(label(64))).toBeDefined();
    expect(dnsSubdomainError("a.b-1")).toBeUndefined();
    expect(dnsSubdomainError(subdomain(254))).toBeDefined();
    expect(dnsSubdomainError("A.b")).toBeDefined();
  });
});
