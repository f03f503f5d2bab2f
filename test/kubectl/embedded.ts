import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, inject, it } from "vitest";
import type { ApiServer } from "../../src/control-plane/api/server.ts";
import { makeCertificate } from "../../src/control-plane/certificate.ts";
import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
} from "../../src/control-plane/control-plane.ts";
import { type ServedApi, serveApi } from "../../src/control-plane/http/serve-api.ts";
import { installCrds } from "../../src/control-plane/install-crds.ts";
import { createObjects } from "../../src/control-plane/load-objects.ts";
import { startSandbox } from "../../src/operator/sandbox/sandbox.ts";
import { systemClock } from "../../src/util/clock.ts";
import { apiOn } from "../world/api-world.ts";
import { type Kubectl, kubectlFor } from "./kubectl.ts";
import { readyNode } from "./ready-node.ts";

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
  const { api } = apiOn(clock, { seed: "kubectl" });
  const certificate = await makeCertificate({ hosts: ["127.0.0.1"], now: clock.now() });
  const faults: unknown[] = [];
  const served = await serveApi(api, {
    token: "token",
    host: "127.0.0.1",
    port: 0,
    certificate,
    onInternalError: (error) => faults.push(error),
  });
  await installCrds(api, "all");
  await createObjects(
    api,
    Array.from({ length: nodes }, (_, index) => readyNode(index + 1, clock.now())),
  );
  return { ...served, api, faults };
}

const speed = 20; // pods start in a tenth of a second

/** What `karpenter up --no-controller --nodes 3` starts: the loops make pods, place and run them, and clean up. (05 §6) */
function startWithLoops(): Promise<Embedded> {
  return startUp((common) => startControlPlane({ ...common, nodes: 3, speed }));
}

/** What `karpenter up --speed 60` starts: a minute of waiting for nodes takes a second. */
function startWithController(): Promise<Embedded> {
  const own = { nodes: 0, speed: 60, version: "0.0.0", print: () => {}, isColoured: false };
  return startUp((common) => startSandbox({ ...common, ...own }));
}

type Common = Pick<
  ControlPlaneOptions,
  "realClock" | "token" | "host" | "port" | "isPlainHttp" | "folder" | "onInternalError"
>;

async function startUp(start: (common: Common) => Promise<ControlPlane>): Promise<Embedded> {
  const folder = mkdtempSync(join(tmpdir(), "karpenter-up-"));
  const faults: unknown[] = [];
  const onFault = (error: unknown) => faults.push(error);
  const started = await start({
    realClock: systemClock(),
    token: "token",
    host: "127.0.0.1",
    port: 0,
    isPlainHttp: false,
    folder,
    onInternalError: onFault,
  });
  const close = async () => {
    await started.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { ...started, faults, close };
}

interface World {
  readonly k: Kubectl;
  readonly server: () => Embedded;
}

/** Tests with the real kubectl against a fresh API server where nothing happens by itself. */
export function describeKubectl(title: string, tests: (world: World) => void): void {
  describeOn(title, { start: startEmbedded, tests });
}

/** Tests with the real kubectl against a fresh cluster whose loops run. */
export function describeRunning(title: string, tests: (world: World) => void): void {
  describeOn(title, { start: startWithLoops, tests });
}

/** Tests with the real kubectl against the sandbox: a cluster, a simulated cloud and the controller. */
export function describeSandbox(title: string, tests: (world: World) => void): void {
  describeOn(title, { start: startWithController, tests });
}

interface Suite {
  readonly start: () => Promise<Embedded>;
  readonly tests: (world: World) => void;
}

/** Skipped where there is no kubectl. */
function describeOn(title: string, { start, tests }: Suite): void {
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
      embedded = await start();
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
      env: () => kubectl().env(),
      file: (...args) => kubectl().file(...args),
      close: () => kubectl().close(),
    };
    tests({ k, server });
    it("05:CP-S3 met no fault inside the server", ({ expect }) => {
      expect(server().faults).toEqual([]);
    });
  });
}

function missing(): never {
  throw new Error("the control plane has not started");
}
