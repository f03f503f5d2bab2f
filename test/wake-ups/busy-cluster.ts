import { OverlayStore } from "../../src/cloud/overlay-store.ts";
import { defaultGates, type FeatureGates } from "../../src/controllers/settings.ts";
import type { Controller } from "../../src/kube/controller.ts";
import { karpenterTypes } from "../../src/kube/resources.ts";
import { allControllers } from "../../src/operator/all-controllers.ts";
import { Random } from "../../src/util/random.ts";
import { VirtualClock } from "../../src/util/virtual-clock.ts";
import { controllerWorld, startAt } from "../controllers/controller-world.ts";
import { budget, buffer, nodeClass, overlay } from "../fuzz/objects.ts";
import { RecordedReads } from "./recorded-reads.ts";

const everyGate = Object.fromEntries(Object.keys(defaultGates).map((name) => [name, true])) as unknown as FeatureGates;
const nodeClassRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };

function poolNamed(name: string, more: object = {}): object {
  const template = { spec: { requirements: [], nodeClassRef, expireAfter: "4m" } };
  return { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name }, spec: { template, ...more } };
}

const web = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "default" },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "main", image: "app:1", resources: { requests: { cpu: "1" } } }] },
    },
  },
};

/** All controllers of an operator, and others, in a cluster where each has something to do; what they read is recorded. */
export async function busyCluster(others: readonly Controller[] = []) {
  const recorded = new RecordedReads();
  const clock = new VirtualClock({ startAt });
  let controllers: readonly Controller[] = [];
  const world = await controllerWorld({
    clock,
    settings: { gates: everyGate },
    runsCluster: true,
    controllers: (dependencies) => {
      const cloud = recorded.cloud(dependencies.cloud);
      const own = { ...dependencies, cloud, cluster: recorded.cluster(dependencies.cluster) };
      const all = allControllers({ dependencies: own, provider: cloud, overlays: new OverlayStore(), clock });
      controllers = [...all, ...others];
      return controllers.map((controller) => recorded.recorded(controller));
    },
  });
  const random = new Random("wake-ups");
  await world.create(nodeClass, poolNamed("a"), poolNamed("fixed", { replicas: 1 }), overlay("dear", random));
  await world.create(web, budget("web", random), buffer("room", "web", random));
  await world.pass(90);
  const [claim] = await world.list(karpenterTypes.NodeClaim);
  await world.client.delete(karpenterTypes.NodeClaim, { name: claim?.metadata.name ?? "" });
  const instance = world.cloud.list().at(-1);
  if (instance !== undefined) world.cloud.interrupt(instance.id);
  await world.pass(300);
  await world.stop();
  return { recorded, controllers };
}
