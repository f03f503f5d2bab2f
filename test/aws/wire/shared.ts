import { afterAll, beforeAll, beforeEach, describe, inject, it } from "vitest";
import type { AwsApi } from "../../../src/providers/aws/api/aws-api.ts";
import { openAwsApi } from "../../../src/providers/aws/api/sdk-aws-api.ts";
import { prepareAccount } from "./moto-account.ts";
import { type Shim, startShim } from "./shim.ts";

/** The one moto of a test run, or why there is none. */
type SharedMoto =
  | { readonly kind: "running"; readonly url: string }
  | { readonly kind: "missing"; readonly because: string };

declare module "vitest" {
  interface ProvidedContext {
    moto: SharedMoto;
  }
}

/** A fresh account of moto behind a shim, and our calls to it through the SDK. */
export interface WireAccount {
  readonly shim: Shim;
  readonly api: AwsApi;
  readonly motoUrl: string;
  readonly region: string;
  readonly cluster: string;
  readonly kubernetesVersion: string;
}

/** The EKS cluster of an account. */
interface WireCluster {
  readonly cluster?: string;
  readonly kubernetesVersion?: string;
}

/** What the SDK reads to find moto; the user's own settings must not get in. */
export function sdkEnvironment(url: string): Readonly<Record<string, string>> {
  return {
    AWS_ENDPOINT_URL: url,
    AWS_ACCESS_KEY_ID: "AKIAWIRETEST00000000",
    AWS_SECRET_ACCESS_KEY: "wire-test-secret",
    AWS_REGION: "us-west-2",
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
  };
}

/** Empties moto and prepares an account in it. The SDK finds it by the environment, which `close` puts back. */
async function openWireAccount(
  motoUrl: string,
  { cluster = "wire", kubernetesVersion = "1.33" }: WireCluster,
): Promise<WireAccount & { readonly close: () => Promise<void> }> {
  const region = "us-west-2";
  await fetch(`${motoUrl}/moto-api/reset`, { method: "POST" });
  await prepareAccount({ url: motoUrl, region, cluster, kubernetesVersion });
  const shim = await startShim(motoUrl);
  const env = sdkEnvironment(shim.url);
  const before = Object.fromEntries(Object.keys(env).map((name) => [name, process.env[name]]));
  Object.assign(process.env, env);
  const api = await openAwsApi({
    region,
    version: "0.0.0",
    env,
    fetch: (url, { signal = null, ...init }) => fetch(url, { ...init, signal }),
    now: Date.now,
  });
  const close = async (): Promise<void> => {
    await shim.close();
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  return { shim, api, motoUrl, region, cluster, kubernetesVersion, close };
}

/** Tests against an account of their own; skipped when there is no moto. */
export function describeOnMoto(
  title: string,
  tests: (account: () => WireAccount) => void,
  cluster: WireCluster = {},
): void {
  const moto = inject("moto");
  if (moto.kind !== "running") {
    it.skip(`${title}: no moto`, () => {});
    return;
  }
  describe(title, () => {
    let account: Awaited<ReturnType<typeof openWireAccount>> | undefined;
    beforeAll(async () => {
      account = await openWireAccount(moto.url, cluster);
    });
    beforeEach(() => {
      account?.shim.tables.clear();
      account?.shim.calls.splice(0);
    });
    afterAll(() => account?.close());
    tests(() => {
      if (account === undefined) throw new Error("the account is not open yet");
      return account;
    });
  });
}
