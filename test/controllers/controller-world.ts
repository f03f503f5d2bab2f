import type { CloudProvider } from "../../src/cloud/cloud-provider.ts";
import type { ControllerDependencies } from "../../src/controllers/controller-dependencies.ts";
import type { Metrics } from "../../src/controllers/metrics/metrics.ts";
import { ProvisioningTrigger } from "../../src/controllers/provisioning/provisioning-trigger.ts";
import { nominationMs, type Settings } from "../../src/controllers/settings.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import type { Controller } from "../../src/kube/controller.ts";
import { BufferPods } from "../../src/state/buffer-pods.ts";
import { ClusterState } from "../../src/state/cluster-state.ts";
import { clusterStateController } from "../../src/state/cluster-state-controller.ts";
import { RegistrationHealth } from "../../src/state/registration-health.ts";
import { viewProjections } from "../../src/state/view-projections.ts";
import { operatorDefaults } from "../world/operator-defaults.ts";
import { type LogLine, recordingLog } from "../world/recording-log.ts";
import { type TestWorldOptions, testWorld } from "../world/test-world.ts";

export { startAt } from "../world/api-world.ts";

export interface ControllerWorldOptions extends TestWorldOptions {
  /** The controllers under test; cluster state is kept up to date besides. */
  readonly controllers: (dependencies: ControllerDependencies) => readonly Controller[];
  readonly settings?: Partial<Settings> | undefined;
  /** Whether pods get scheduled, kubelets run and so on; only the API server answers, unless asked for. */
  readonly runsCluster?: boolean | undefined;
  readonly metrics?: Metrics | undefined;
  /** Stands before the provider: to add policies, hooks, faults. */
  readonly wrapProvider?: ((provider: CloudProvider) => CloudProvider) | undefined;
  /** Stands between the controllers and the API server: to come in between, to lose answers. */
  readonly wrapClient?: ((client: KubeClient) => KubeClient) | undefined;
}

/** Some of our controllers with cluster state, and nothing else unless asked for. */
export async function controllerWorld(options: ControllerWorldOptions) {
  const world = await testWorld({ seed: "rig", ...options });
  const { clock, client } = world;
  const provider = options.wrapProvider?.(world.provider) ?? world.provider;
  const { settings: defaultSettings, metrics: noMetrics, openBudget } = operatorDefaults();
  const settings = { ...defaultSettings, ...options.settings };
  const cluster = new ClusterState({
    clock,
    servedNodeClasses: provider.nodeClasses,
    nominationMs: nominationMs(settings),
  });
  const lines: LogLine[] = [];
  const dependencies: ControllerDependencies = {
    cluster,
    cloud: provider,
    registrationHealth: new RegistrationHealth(),
    bufferPods: new BufferPods(),
    trigger: new ProvisioningTrigger(),
    settings,
    nominatesPods: () => settings.nominatePods,
    openBudget,
    metrics: options.metrics ?? noMetrics,
  };
  const log = recordingLog(lines);
  if (options.runsCluster) world.startCluster();
  const start = () =>
    world.startControllers({
      ...(options.wrapClient && { client: options.wrapClient(client) }),
      controllers: [clusterStateController(cluster), ...options.controllers(dependencies)],
      projections: viewProjections(),
      eventSource: { component: "karpenter", limits: { Nominated: { perSecond: 5, burst: 10 } } },
      log,
    });
  let running = start();
  await world.pass(0);
  return {
    ...world,
    provider,
    cluster,
    dependencies,
    lines,
    log,
    /** The controllers start again and remember nothing; cluster state stays. */
    restart: async () => {
      void running.stop();
      running = start();
      await world.pass(0);
    },
  };
}
export type ControllerWorld = Awaited<ReturnType<typeof controllerWorld>>;
