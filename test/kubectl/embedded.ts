import { afterAll, beforeAll, describe, inject, it } from "vitest";
import { ApiServer } from "../../src/control-plane/api/server.ts";
import { makeCertificate } from "../../src/control-plane/certificate.ts";
import { installCrds } from "../../src/control-plane/custom-kinds.ts";
import { type ServedApi, serveApi } from "../../src/control-plane/http/serve.ts";
import { createObjects } from "../../src/control-plane/load.ts";
import { simulatedNode } from "../../src/control-plane/simulated-node.ts";
import { systemClock } from "../../src/util/clock.ts";
import { Random } from "../../src/util/random.ts";
import { type Kubectl, kubectlFor } from "./kubectl.ts";

export interface FoundKubectl {
  readonly kind: "found";
  readonly program: string;
  /** A file with every command line that was run. */
  readonly tally: string;
}

declare module "vitest" {
  interface ProvidedContext {
    kubectl: FoundKubectl | { readonly kind: "missing" };
  }
}

/** An embedded control plane with our kinds and three nodes, on a socket of its own. */
export interface Embedded extends ServedApi {
  readonly api: ApiServer;
  /** What went wrong inside. */
  readonly faults: readonly unknown[];
}

export async function startEmbedded({ nodes = 3 }: { readonly nodes?: number } = {}): Promise<Embedded> {
  const clock = systemClock();
  const api = new ApiServer({ clock, random: new Random("kubectl") });
  const certificate = await makeCertificate({ hosts: ["127.0.0.1"], now: clock.now() });
  const faults: unknown[] = [];
  const served = await serveApi(api, {
    host: "127.0.0.1",
    port: 0,
    certificate,
    onFault: (error) => faults.push(error),
  });
  await installCrds(api, "all");
  await createObjects(
    api,
    Array.from({ length: nodes }, (_, index) => simulatedNode(index + 1, clock.now())),
  );
  return { ...served, api, faults };
}

/** Tests with the real kubectl against a fresh embedded control plane; skipped where there is no kubectl. */
export function describeKubectl(title: string, tests: (world: { k: Kubectl; server: () => Embedded }) => void): void {
  const found = inject("kubectl");
  if (found.kind === "missing") {
    it.skip(`${title}: no kubectl`, () => {});
    return;
  }
  describe(title, () => {
    let embedded: Embedded | undefined;
    let real: Kubectl | undefined;
    const server = () => embedded ?? missing();
    const kubectl = () => real ?? missing();
    beforeAll(async () => {
      embedded = await startEmbedded();
      real = kubectlFor({ program: found.program, kubeconfig: embedded.kubeconfig, tally: found.tally });
    });
    afterAll(async () => {
      real?.close();
      await embedded?.close();
    });
    const k: Kubectl = {
      run: (...args) => kubectl().run(...args),
      ok: (...args) => kubectl().ok(...args),
      fails: (...args) => kubectl().fails(...args),
      start: (...args) => kubectl().start(...args),
      file: (...args) => kubectl().file(...args),
      close: () => kubectl().close(),
    };
    tests({ k, server });
    it("05 §8 met no fault inside the server", ({ expect }) => {
      expect(server().faults).toEqual([]);
    });
  });
}

function missing(): never {
  throw new Error("the control plane has not started");
}
