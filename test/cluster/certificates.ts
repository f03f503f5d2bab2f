import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Paths of PEM files. */
export interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** Signs service account tokens. */
  readonly serviceAccountKey: string;
}

/** A certificate authority of our own, a serving certificate for loopback signed by it, and a service account key. */
export async function makeCertificates(dir: string): Promise<Certificates> {
  const file = (name: string) => join(dir, name);
  const openssl = (...args: readonly string[]) => run("openssl", args, { cwd: dir });

  // ecparam writes SEC 1, the only form of an EC key from which the API server also reads the public half.
  await Promise.all([
    ...["ca.key", "serving.key", "service-account.key"].map((name) =>
      openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", name),
    ),
    writeFile(file("serving.ext"), "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n"),
  ]);
  await openssl("req", "-x509", "-key", "ca.key", "-subj", "/CN=karpenter-test-ca", "-days", "2", "-out", "ca.crt");
  await openssl("req", "-new", "-key", "serving.key", "-subj", "/CN=127.0.0.1", "-out", "serving.csr");
  const signing = ["-CA", "ca.crt", "-CAkey", "ca.key", "-set_serial", "2", "-days", "2", "-extfile", "serving.ext"];
  await openssl("x509", "-req", "-in", "serving.csr", ...signing, "-out", "serving.crt");

  return {
    ca: file("ca.crt"),
    cert: file("serving.crt"),
    key: file("serving.key"),
    serviceAccountKey: file("service-account.key"),
  };
}
