import { afterAll, beforeAll, beforeEach, describe, inject, it } from "vitest";
import { type Shim, startShim } from "./shim.ts";

/** The one moto of a test run, or why there is none. */
export type SharedMoto =
  | { readonly kind: "running"; readonly url: string }
  | { readonly kind: "missing"; readonly because: string };

declare module "vitest" {
  interface ProvidedContext {
    moto: SharedMoto;
  }
}

/** Tests against an empty moto behind a shim of their own; skipped when there is no moto. */
export function describeOnMoto(title: string, tests: (shim: () => Shim) => void): void {
  const moto = inject("moto");
  if (moto.kind !== "running") {
    it.skip(`${title}: no moto`, () => {});
    return;
  }
  describe(title, () => {
    let shim: Shim | undefined;
    beforeAll(async () => {
      await fetch(`${moto.url}/moto-api/reset`, { method: "POST" });
      shim = await startShim(moto.url);
    });
    beforeEach(() => {
      shim?.calls.splice(0);
    });
    afterAll(() => shim?.close());
    tests(() => {
      if (shim === undefined) throw new Error("the shim has not started");
      return shim;
    });
  });
}
