import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";

/** Certificate and key of a TLS server, as PEM. */
export interface ServerCertificate {
  readonly key: string;
  readonly certificate: string;
}

export interface CertificateOptions {
  /** Names and addresses it is valid for. */
  readonly hosts: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const dayMs = 24 * 60 * 60 * 1000;
const validityMs = 365 * dayMs;

/** A self-signed certificate; the kubeconfig carries it as its CA. (05:CP-S1) */
export async function makeCertificate({ hosts, now }: CertificateOptions): Promise<ServerCertificate> {
  const generate = await loadGenerator();
  const made = await generate([{ name: "commonName", value: `karpenter-up-${now.toString(36)}` }], {
    keyType: "ec",
    algorithm: "sha256",
    notBeforeDate: new Date(now - dayMs), // client and server clocks may differ
    notAfterDate: new Date(now + validityMs),
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", digitalSignature: true, keyCertSign: true, critical: true },
      { name: "extKeyUsage", serverAuth: true },
      { name: "subjectAltName", altNames: hosts.map(altName) },
    ],
  });
  return { key: made.private, certificate: made.cert };
}

type Generate = typeof import("selfsigned")["generate"];

/**
 * Loaded on demand (100 ms): most starts reuse a certificate. In the bundle a CommonJS package is the default export.
 */
async function loadGenerator(): Promise<Generate> {
  const loaded: { readonly generate?: Generate; readonly default?: { readonly generate: Generate } } = await import(
    "selfsigned"
  );
  const generate = loaded.generate ?? loaded.default?.generate;
  if (generate === undefined) throw new Error("the package selfsigned has no generate");
  return generate;
}

function altName(host: string): { type: 2; value: string } | { type: 7; ip: string } {
  return isIP(host) === 0 ? { type: 2, value: host } : { type: 7, ip: host };
}

/** Whether a stored certificate can be reused: valid for another week, and for all of these hosts. */
export function isCertificateUsable({ certificate }: ServerCertificate, { hosts, now }: CertificateOptions): boolean {
  try {
    const parsed = new X509Certificate(certificate);
    const isTimely = Date.parse(parsed.validFrom) <= now && now + 7 * dayMs < Date.parse(parsed.validTo);
    return isTimely && hosts.every((host) => covers(parsed, host));
  } catch {
    return false; // not a certificate
  }
}

function covers(certificate: X509Certificate, host: string): boolean {
  return (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined;
}
