import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { Node } from "../../api/kubernetes/cluster-objects.ts";
import { simulationAnnotations } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import { combinedInstanceSource } from "../../cloud/combined-instance-source.ts";
import { InstanceList } from "../../cloud/instance-source.ts";
import type { ApiServer } from "../../control-plane/api/server.ts";
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from "../../control-plane/control-plane.ts";
import { templateHash } from "../../control-plane/controllers/workloads/template-hash.ts";
import { versionInfo } from "../../control-plane/http/version.ts";
import { InProcessClient } from "../../control-plane/in-process-client.ts";
import { createObjects } from "../../control-plane/load-objects.ts";
import { recordAt } from "../../control-plane/object-fields.ts";
import { noMetrics } from "../../controllers/metrics/metrics.ts";
import { defaultGates, defaultSettings, type FeatureGates } from "../../controllers/settings.ts";
import type { KubeClient } from "../../kube/client.ts";
import { ignoreKubeErrors } from "../../kube/kube-error.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import { parseServerVersion } from "../../kube/server-version.ts";
import { restoredInstances } from "../../providers/sim/restored-instances.ts";
import { SimulatedCloud } from "../../providers/sim/simulated-cloud.ts";
import { simulatedPlacement, simulatedProvider } from "../../providers/sim/simulated-provider.ts";
import type { Clock } from "../../util/clock.ts";
import type { Logger } from "../../util/logger.ts";
import { bearerAccess } from "../bearer-access.ts";
import { explainRoutes } from "../explain-routes.ts";
import { jsonLogger } from "../json-logger.ts";
import { type RunningOperator, startOperator } from "../operator.ts";
import { type RunningServer, serveRoutes } from "../serve-routes.ts";
import { wallClockBudget } from "../wall-clock-budget.ts";
import { ActivityReporter } from "./activity-reporter.ts";
import {
  type ControllerIdentity,
  controllerDeployment,
  controllerPod,
  controllerSelector,
  controlPlaneInstance,
  isControllerPod,
} from "./controller-pod.ts";
import { LogBuffer } from "./log-buffer.ts";
import { teeLogger } from "./tee-logger.ts";

export interface SandboxOptions extends Omit<ControlPlaneOptions, "cloudInstances" | "logs"> {
  readonly version: string;
  /** Where the controller's pod appears; the namespace has to exist. `karpenter` by default. */
  readonly controllerNamespace?: string | undefined;
  /** Region of EC2NodeClasses; the catalogue's own by default. */
  readonly region?: string | undefined;
  /** Prints one line about what the controller does. */
  readonly print: (line: string) => void;
  readonly isColoured: boolean;
}

/** A cluster, a cloud and the controller in one process. */
export interface Sandbox extends ControlPlane {
  readonly cloud: SimulatedCloud;
  readonly client: KubeClient;
  readonly operator: RunningOperator;
  /** Prints a line, after all pending activity. */
  printLine(text: string): void;
}

/** All features on: nothing here costs money. */
const gates: FeatureGates = {
  ...defaultGates,
  NodeRepair: true,
  NodeOverlay: true,
  StaticCapacity: true,
  CapacityBuffer: true,
  SpotToSpotConsolidation: true,
  MultiReplacement: true,
};

const solveBudgetMs = 5_000;
const loopback = "127.0.0.1";

/** The composition of `karpenter up`. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  let created: { readonly cloud: SimulatedCloud; readonly logBuffer: LogBuffer } | undefined;
  const nodePlacement = simulatedPlacement(options.region);
  const identity = { version: options.version, namespace: options.controllerNamespace ?? "karpenter" };
  const controlPlane = await startControlPlane({
    ...options,
    nodePlacement,
    logs: (pod, request) => (isControllerPod(pod, identity.namespace) ? created?.logBuffer.read(request) : undefined),
    cloudInstances: async ({ api, random }) => {
      const { clock } = api;
      const cloud = new SimulatedCloud({ clock, random: random.fork("cloud") });
      created = { cloud, logBuffer: new LogBuffer(() => clock.now()) };
      cloud.restore(restoredInstances(await storedNodesAndClaims(new InProcessClient(api))));
      return combinedInstanceSource(
        new InstanceList([controlPlaneInstance({ launchedAt: clock.now(), placement: nodePlacement })]),
        cloud,
      );
    },
  });
  if (created === undefined) throw new Error("the control plane did not ask for instances");
  const { cloud, logBuffer } = created;
  try {
    await createController(controlPlane.api, identity);
    const client = new InProcessClient(controlPlane.api, { fieldManager: "karpenter" });
    const { clock } = controlPlane.api;
    let explanations: RunningOperator["explanations"] | undefined;
    const reporter = new ActivityReporter({
      ...options,
      clock,
      priceOf: (id) => cloud.find(id)?.price,
      causeOf: async (pod) => causeIn(await explanations?.pod(pod)),
    });
    const log = teeLogger(bufferLogger(logBuffer, clock), reporter.log);
    const operator = runController(controlPlane, { cloud, client, log, region: options.region });
    explanations = operator.explanations;
    await operator.started;
    const server = await serveExplanations(operator, {
      api: controlPlane.api,
      client,
      namespace: identity.namespace,
      onError: options.onInternalError,
    });
    const close = async () => {
      await server.close();
      await operator.stop();
      reporter.flush();
      cloud.close();
      await controlPlane.close();
    };
    const printLine = (text: string) => {
      reporter.flush();
      reporter.inOrder(() => options.print(text));
    };
    return { ...controlPlane, cloud, client, operator, printLine, close };
  } catch (error) {
    await controlPlane.close();
    throw error;
  }
}

/** The first sentence of an explanation. */
function causeIn(reply: Awaited<ReturnType<RunningOperator["explanations"]["pod"]>> | undefined): string | undefined {
  return reply?.kind === "explained" ? reply.explanation.cause : undefined;
}

/** The Deployment is made after its pod, so that no second pod is made. */
async function createController(api: ApiServer, identity: ControllerIdentity): Promise<void> {
  const deployment = controllerDeployment(identity);
  const { namespace } = identity;
  const kind = api.kinds.get(builtInTypes.Deployment);
  await removeOtherControllers(new InProcessClient(api), namespace);
  const defaulted = await ignoreKubeErrors(api.create(kind, deployment, { namespace, dryRun: true }), "already-exists");
  if (defaulted === undefined) return; // of an earlier run
  const hash = templateHash(recordAt(defaulted.object.spec, "template"));
  await createObjects(api, [controllerPod(identity, hash), deployment]);
}

/** An earlier run may have had its controller in another namespace: there is only one. */
async function removeOtherControllers(client: KubeClient, namespace: string): Promise<void> {
  const { items } = await client.list(builtInTypes.Deployment, { labelSelector: controllerSelector });
  const others = items.filter(({ metadata }) => metadata.name === "karpenter" && metadata.namespace !== namespace);
  for (const { metadata } of others) {
    const key = { name: metadata.name ?? "", namespace: metadata.namespace };
    await ignoreKubeErrors(client.delete(builtInTypes.Deployment, key), "not-found");
  }
}

/** Answers `karpenter explain` on this computer; the controller's pod says where. */
async function serveExplanations(
  { explanations }: RunningOperator,
  {
    api,
    client,
    namespace,
    onError,
  }: Pick<Sandbox, "api" | "client"> &
    Pick<ControllerIdentity, "namespace"> & { readonly onError: (error: unknown) => void },
): Promise<RunningServer> {
  const access = bearerAccess({ client, clock: api.clock });
  const routes = explainRoutes({ explanations, access });
  const server = await serveRoutes({ host: loopback, port: 0, routes, onError });
  const annotations = { [simulationAnnotations.controllerUrl]: `http://${loopback}:${server.port}` };
  const { items } = await client.list(builtInTypes.Pod, { namespace });
  for (const { metadata } of items.filter((pod) => isControllerPod(pod, namespace))) {
    const patch = { kind: "merge", body: { metadata: { annotations } } } as const;
    const key = { name: metadata.name ?? "", namespace: metadata.namespace };
    await ignoreKubeErrors(client.patch(builtInTypes.Pod, key, patch), "not-found");
  }
  return server;
}

interface RunControllerOptions extends Pick<Sandbox, "cloud" | "client">, Pick<SandboxOptions, "region"> {
  readonly log: Logger;
}

function runController({ api, random }: ControlPlane, options: RunControllerOptions): RunningOperator {
  const { clock } = api;
  const { cloud, client, log, region } = options;
  return startOperator({
    client,
    leaseClient: client,
    provider: simulatedProvider({ cloud, client, clock, random: random.fork("provider"), region, log }),
    settings: { ...defaultSettings, gates },
    clock,
    random: random.fork("controller"),
    log,
    metrics: noMetrics,
    openBudget: wallClockBudget({ totalMs: solveBudgetMs, now: () => performance.now(), yieldToEventLoop }),
    serverVersion: async () => parseServerVersion(versionInfo),
    identity: "karpenter-0",
  });
}

/** The log `kubectl logs` shows, as a controller in a pod would write it. */
function bufferLogger(logBuffer: LogBuffer, clock: Clock): Logger {
  const write = (line: string) => logBuffer.write(line.trimEnd());
  return jsonLogger({ level: "debug", destination: { write }, clock, commit: "" });
}

async function storedNodesAndClaims(client: KubeClient) {
  const [nodes, claims] = await Promise.all([
    client.list<KubeObject & Node>(builtInTypes.Node),
    client.list<KubeObject & NodeClaim>(karpenterTypes.NodeClaim),
  ]);
  return { nodes: nodes.items, claims: claims.items };
}
