import { describe, expect, it } from "vitest";
import { OverlayStore } from "../../src/cloud/overlay-store.ts";
import { defaultGates, type FeatureGates } from "../../src/controllers/settings.ts";
import { allControllers } from "../../src/operator/all-controllers.ts";
import { controllerWorld } from "../controllers/controller-world.ts";

async function names(gates: Partial<FeatureGates> = {}, isClusterStateObservable = true): Promise<readonly string[]> {
  const settings = { gates: { ...defaultGates, ...gates }, isClusterStateObservable };
  const { dependencies, provider, clock, stop } = await controllerWorld({ controllers: () => [], settings });
  const controllers = allControllers({ dependencies, provider, overlays: new OverlayStore(), clock });
  await stop();
  return controllers.map(({ name }) => name);
}

const always = [
  "provisioner",
  "eviction-queue",
  "nodeclaim.lifecycle",
  "nodeclaim.disruption",
  "nodeclaim.expiration",
  "nodeclaim.podevents",
  "nodeclaim.consistency",
  "nodeclaim.garbagecollection",
  "nodeclaim.hydration",
  "node.hydration",
  "node.termination",
  "nodepool.hash",
  "nodepool.readiness",
  "nodepool.registrationhealth",
  "nodepool.validation",
  "nodepool.counter",
  "metrics.pod",
  "metrics.node",
  "metrics.nodepool",
];

describe("the controllers", () => {
  it("03 Appendix A are all there, each under one name", async () => {
    const all = await names();
    expect(all).toEqual(expect.arrayContaining(always));
    expect(new Set(all).size).toBe(all.length);
  });

  it.each([
    ["NodeRepair", ["node.health"]],
    ["StaticCapacity", ["static.provisioning", "static.deprovisioning"]],
    ["NodeOverlay", ["nodeoverlay"]],
    ["CapacityBuffer", ["capacitybuffer", "operatorpkg.capacitybuffer.status"]],
  ] as const)("03 §6.4 gate %s adds %j", async (gate, added) => {
    const [without, with_] = [await names(), await names({ [gate]: true })];
    expect(with_.filter((name) => !without.includes(name)).sort()).toEqual([...added].sort());
  });

  it("03 §6.4 metrics and condition events go where cluster state is not to be observed", async () => {
    const discreet = await names({}, false);
    expect(discreet.filter((name) => name.startsWith("metrics.") || name.startsWith("operatorpkg."))).toEqual([]);
  });
});
