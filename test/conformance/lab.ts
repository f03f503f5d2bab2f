import { readdirSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { customResourceDefinition } from "../../src/api/crd.ts";
import { karpenterKindsOf } from "../../src/api/kinds/karpenter-kinds.ts";
import { isRecord } from "../../src/api/object.ts";
import { type Child, startChild } from "../cluster/child.ts";
import { type ControlPlane, startControlPlane } from "../cluster/control-plane.ts";
import { eventually } from "../cluster/eventually.ts";
import { applyCrds, type Connection, type Crd, connect } from "../cluster/kube.ts";
import { freePorts } from "../cluster/ports.ts";
import { type ControllerName, startController } from "./controller.ts";
import type { Suite } from "./spec.ts";
import { controllerPodPath, standIns } from "./stand-ins.ts";

export interface LabOptions {
  readonly controller: ControllerName;
  readonly suite: Suite;
  /** Folder of the programs that `scripts/setup-conformance.sh` built. */
  readonly programs: string;
  readonly root: string;
  /** The address that fake nodes and the controller's pod have. */
  readonly address: string;
  /** Gets the logs. */
  readonly dir: string;
}

/** A real control plane with kwok's fake nodes and one controller, as upstream's suites expect to find them. */
export interface Lab {
  readonly kubeconfigPath: string;
  readonly connection: Connection;
  readonly controller: Child;
  /** From now on kube-controller-manager works without limits: what comes is not measured. */
  quicken(): Promise<void>;
  stop(): Promise<void>;
}

const graceMs = 5_000;

export async function startLab(options: LabOptions): Promise<Lab> {
  await mkdir(options.dir, { recursive: true });
  // Upstream's times were taken with the control plane's own limits, which create about 20 pods a second.
  const plane = await startControlPlane({ requestRates: "default" });
  const children: Child[] = [];
  const stop = async (): Promise<void> => {
    for (const child of [...children].reverse()) await child.stop(graceMs);
    await plane.stop();
  };
  try {
    await applyCrds(plane, crdsOf(options));
    children.push(await startKwok(plane, options));
    await createStandIns(plane);
    await untilCollected(plane);
    const { kubeconfigPath } = plane;
    const controller = await startController({
      ...options,
      name: options.controller,
      kubeconfigPath,
      logPath: join(options.dir, "controller.log"),
    });
    children.push(controller);
    const quicken = () => plane.restart("kube-controller-manager", "fast");
    return { kubeconfigPath, connection: plane, controller, quicken, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Each controller with its own definitions, as one would install it. */
function crdsOf({ controller, programs }: LabOptions): readonly Crd[] {
  if (controller === "karpenter-ts") {
    return karpenterKindsOf("kwok").map((kind) => customResourceDefinition(kind, "kwok")) as unknown as readonly Crd[];
  }
  const dir = join(programs, "data/crds");
  return readdirSync(dir).map((file) => parse(readFileSync(join(dir, file), "utf8")) as Crd);
}

async function startKwok({ kubeconfigPath }: ControlPlane, { programs, address, dir }: LabOptions): Promise<Child> {
  const stages = join(programs, "data/stages");
  const [port = 0] = await freePorts(1);
  const child = await startChild(join(programs, "kwok"), {
    args: [
      `--kubeconfig=${kubeconfigPath}`,
      ...readdirSync(stages).map((file) => `--config=${join(stages, file)}`),
      "--manage-all-nodes=false",
      "--manage-nodes-with-label-selector=kwok-partition=a",
      `--node-ip=${address}`,
      `--node-port=${port}`,
      `--server-address=127.0.0.1:${port}`,
      "--node-lease-duration-seconds=40",
    ],
    logPath: join(dir, "kwok.log"),
  });
  await eventually("kwok is ready", async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok || undefined);
  return child;
}

async function createStandIns(plane: ControlPlane): Promise<void> {
  const kube = connect(plane);
  try {
    for (const { collection, object } of standIns) {
      const { status, body } = await kube.request("POST", collection, object);
      if (status >= 300) throw new Error(`creating ${object.kind} ${object.metadata.name}: ${JSON.stringify(body)}`);
    }
    await eventually("the controller's pod runs", async () => {
      const { body } = await kube.request("GET", controllerPodPath);
      return (isRecord(body) && isRecord(body.status) && body.status.phase === "Running") || undefined;
    });
  } finally {
    kube.close();
  }
}

/**
 * Waits until kube-controller-manager deletes what depends on our kinds. In a new cluster that takes half a minute, which the
 * first spec would otherwise spend on cleaning up.
 */
async function untilCollected(plane: ControlPlane): Promise<void> {
  const kube = connect(plane);
  const collection = "/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses";
  try {
    const nodeClass = {
      apiVersion: "karpenter.kwok.sh/v1alpha1",
      kind: "KWOKNodeClass",
      metadata: { name: "collected" },
    };
    const { status, body } = await kube.request("POST", collection, { ...nodeClass, spec: {} });
    if (status >= 300) throw new Error(`creating KWOKNodeClass collected: ${JSON.stringify(body)}`);
    await kube.request("DELETE", `${collection}/collected`, { propagationPolicy: "Foreground" });
    const isGone = async () => (await kube.request("GET", `${collection}/collected`)).status === 404 || undefined;
    await eventually("a deletion in the foreground ends", isGone, { timeoutMs: 180_000, everyMs: 500 });
  } finally {
    kube.close();
  }
}
