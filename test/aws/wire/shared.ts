import { afterAll, beforeAll, beforeEach, describe, inject, it } from "vitest";
import type { AwsApi } from "../../../src/providers/aws/api/aws-api.ts";
import { openAwsApi } from "../../../src/providers/aws/api/sdk-aws-api.ts";
import type { AwsTarget } from "./aws-target.ts";
import { prepareAccount } from "./moto-account.ts";
import { type Shim, startShim } from "./shim.ts";

/** What the tests of a run talk to: one moto, an account of AWS, or why there is neither. */
type WireTarget =
  | { readonly kind: "moto"; readonly url: string }
  | ({ readonly kind: "aws" } & AwsTarget)
  | { readonly kind: "missing"; readonly because: string };

declare module "vitest" {
  interface ProvidedContext {
    wire: WireTarget;
  }
}

/** An account that was prepared for a cluster as the guide says, and our calls to it through the SDK. */
export interface AnyAccount {
  readonly api: AwsApi;
  readonly region: string;
  readonly cluster: string;
}

/** A fresh account of moto behind a shim. */
export interface WireAccount extends AnyAccount {
  readonly shim: Shim;
  readonly motoUrl: string;
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
  const api = await openApi(region, env);
  const close = async (): Promise<void> => {
    await shim.close();
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  return { shim, api, motoUrl, region, cluster, kubernetesVersion, close };
}

function openApi(region: string, env: Readonly<Record<string, string | undefined>>): Promise<AwsApi> {
  return openAwsApi({
    ...{ region, version: "0.0.0", env, now: Date.now },
    fetch: (url, { signal = null, ...init }) => fetch(url, { ...init, signal }),
  });
}

/**
 * Tests that hold in any account: in one of moto, which is prepared for them, and in a real one when that is asked for.
 * Those that create something do so in moto, or where it was allowed by name. (04 §9.7-7)
 */
export function describeOnAnyAccount(
  title: string,
  tests: (account: () => AnyAccount, itCreates: typeof it) => void,
  prepare: (account: WireAccount) => void,
): void {
  const target = inject("wire");
  if (target.kind !== "aws") {
    describeOnMoto(title, (account) => {
      beforeEach(() => prepare(account()));
      tests(account, it);
    });
    return;
  }
  const { region, cluster, mayCreate } = target;
  describe(`${title}, in AWS`, () => {
    let api: AwsApi | undefined;
    beforeAll(async () => {
      api = await openApi(region, process.env);
    });
    const account = (): AnyAccount => {
      if (api === undefined) throw new Error("the account is not open yet");
      return { api, region, cluster };
    };
    tests(account, mayCreate ? it : (it.skip as unknown as typeof it));
  });
}

/** Tests against an account of moto of their own; skipped when there is no moto. */
export function describeOnMoto(
  title: string,
  tests: (account: () => WireAccount) => void,
  cluster: WireCluster = {},
): void {
  const target = inject("wire");
  if (target.kind !== "moto") {
    it.skip(`${title}: no moto`, () => {});
    return;
  }
  describe(title, () => {
    let account: Awaited<ReturnType<typeof openWireAccount>> | undefined;
    beforeAll(async () => {
      account = await openWireAccount(target.url, cluster);
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
