import { X509Certificate } from "node:crypto";
import { expect, it } from "vitest";
import { isCertificateUsable, makeCertificate } from "./certificate.ts";

const day = 24 * 60 * 60 * 1000;
const now = Date.parse("2026-03-01T00:00:00Z");
const hosts = ["localhost", "127.0.0.1", "::1"];

it("05:CP-S1 creates a self-signed certificate for its hosts", async () => {
  const made = await makeCertificate({ hosts, now });
  const parsed = new X509Certificate(made.certificate);
  expect(parsed.verify(parsed.publicKey)).toBe(true);
  expect(parsed.ca).toBe(true);
  expect(parsed.checkIP("127.0.0.1")).toBe("127.0.0.1");

  expect(isCertificateUsable(made, { hosts, now })).toBe(true);
  expect(isCertificateUsable(made, { hosts: ["example.com"], now })).toBe(false);
  expect(isCertificateUsable(made, { hosts: ["10.0.0.1"], now })).toBe(false);
  expect(isCertificateUsable(made, { hosts, now: now + 360 * day })).toBe(false);
  expect(isCertificateUsable({ key: "", certificate: "no" }, { hosts, now })).toBe(false);
});
