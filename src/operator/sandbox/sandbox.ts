import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { Node } from "../../api/kubernetes/cluster.ts";
import type { KubeObject } from "../../api/object.ts";
import { InstanceList } from "../../cloud/instance-source.ts";
import { joinedInstances } from "../../cloud/joined-instances.ts";
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from "../../control-plane/control-plane.ts";
import { InProcessClient } from "../../control-plane/in-process-client.ts";
import { createObjects } from "../../control-plane/load.ts";
import { noMetrics } from "../../controllers/metrics/metrics.ts";
import { defaultGates, defaultSettings, type FeatureGates } from "../../controllers/settings.ts";
import type { KubeClient } from "../../kube/client.ts";
import { builtIn, custom } from "../../kube/resources.ts";
import { SimulatedCloud } from "../../providers/sim/cloud.ts";
import { simulatedProvider } from "../../providers/sim/provider.ts";
import { restoredMachines } from "../../providers/sim/restore.ts";
import type { Clock } from "../../util/clock.ts";
import type { Logger } from "../../util/logger.ts";
import { jsonLog } from "../log.ts";
import { type RunningOperator, startOperator } from "../operator.ts";
import { wallBudget } from "../wall-budget.ts";
import { bothLogs } from "./both-logs.ts";
import { controllerPod, controlPlaneMachine, isController } from "./controller-pod.ts";
import { LogBook } from "./log-book.ts";
import { Narrator } from "./narrator.ts";

export interface SandboxOptions extends Omit<ControlPlaneOptions, "machines" | "logs"> {
  readonly version: string;
  /** Where EC2NodeClasses buy; the catalogue's own region unless given. */
  readonly region?: string | undefined;
  /** What the controller tells a person, a line each. */
  readonly tell: (line: string) => void;
  readonly isColoured: boolean;
}

/** A cluster, a cloud and the controller in one process. */
export interface Sandbox extends ControlPlane {
  readonly cloud: SimulatedCloud;
  readonly client: KubeClient;
  readonly operator: RunningOperator;
  /** Says something between what the controller tells, after all that happened before. */
  say(text: string): void;
}

/** Everything that can be shown is switched on: nothing here costs money. */
const gates: FeatureGates = {
  ...defaultGates,
  NodeRepair: true,
  NodeOverlay: true,
  StaticCapacity: true,
  CapacityBuffer: true,
  SpotToSpotConsolidation: true,
};

const solveBudgetMs = 5_000;

/** The composition of `karpenter up`. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  let scene: Scene | undefined;
  const plane = await startControlPlane({
    ...options,
    logs: (pod, request) => (isController(pod) && scene ? scene.book.read(request) : nothing()),
    machines: async ({ api, random }) => {
      const { clock } = api;
      const cloud = new SimulatedCloud({ clock, random: random.fork("cloud") });
      scene = { cloud, book: new LogBook(() => clock.now()) };
      cloud.restore(restoredMachines(await remembered(new InProcessClient(api))));
      return joinedInstances(new InstanceList([controlPlaneMachine({ launchedAt: clock.now() })]), cloud);
    },
  });
  if (scene === undefined) throw new Error("the control plane asked for no machines");
  const { cloud, book } = scene;
  try {
    await createObjects(plane.api, [controllerPod(options.version)]);
    const client = new InProcessClient(plane.api, { fieldManager: "karpenter" });
    const narrator = new Narrator({ ...options, clock: plane.api.clock, priceOf: (id) => cloud.find(id)?.price });
    const log = bothLogs(bookLog(book, plane.api.clock), narrator.log);
    const operator = runController(plane, { cloud, client, log, options });
    await operator.begun;
    const close = async () => {
      await operator.stop();
      narrator.flush();
      cloud.close();
      await plane.close();
    };
    const say = (text: string) => {
      narrator.flush();
      options.tell(text);
    };
    return { ...plane, cloud, client, operator, say, close };
  } catch (error) {
    await plane.close();
    throw error;
  }
}

interface Scene {
  readonly cloud: SimulatedCloud;
  readonly book: LogBook;
}

interface Controlled {
  readonly cloud: SimulatedCloud;
  readonly client: KubeClient;
  readonly log: Logger;
  readonly options: SandboxOptions;
}

function runController({ api, random }: ControlPlane, { cloud, client, log, options }: Controlled): RunningOperator {
  const { clock } = api;
  const { region } = options;
  return startOperator({
    client,
    leaseClient: client,
    provider: simulatedProvider({ cloud, client, clock, random: random.fork("provider"), region, log }),
    settings: { ...defaultSettings, gates },
    clock,
    random: random.fork("controller"),
    log,
    metrics: noMetrics,
    budgets: wallBudget({ totalMs: solveBudgetMs, now: () => performance.now(), turn }),
    identity: "karpenter-0",
  });
}

/** For `kubectl logs`, as a controller in a pod would write it. */
function bookLog(book: LogBook, clock: Clock): Logger {
  const write = (line: string) => book.write(line.trimEnd());
  return jsonLog({ level: "debug", destination: { write }, clock, commit: "" });
}

async function remembered(client: KubeClient) {
  const [nodes, claims] = await Promise.all([
    client.list<KubeObject & Node>(builtIn.Node),
    client.list<KubeObject & NodeClaim>(custom.NodeClaim),
  ]);
  return { nodes: nodes.items, claims: claims.items };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function* nothing(): AsyncIterable<string> {}
