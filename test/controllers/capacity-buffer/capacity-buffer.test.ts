import { describe, expect, it } from "vitest";
import { getCondition } from "../../../src/api/conditions/set-condition.ts";
import type { CapacityBuffer } from "../../../src/api/kinds/capacity-buffer.ts";
import { annotations } from "../../../src/api/labels.ts";
import { capacityBufferControllers } from "../../../src/controllers/capacity-buffer/capacity-buffer-controller.ts";
import { ProvisioningTrigger } from "../../../src/controllers/provisioning/provisioning-trigger.ts";
import { defaultGates } from "../../../src/controllers/settings.ts";
import type { Controller } from "../../../src/kube/controller.ts";
import { builtInTypes, karpenterTypes } from "../../../src/kube/resources.ts";
import { controllerWorld } from "../controller-world.ts";

type Spec = Partial<CapacityBuffer["spec"]>;

function buffer(name: string, spec: Spec): object {
  return {
    apiVersion: "autoscaling.x-k8s.io/v1beta1",
    kind: "CapacityBuffer",
    metadata: { name, namespace: "default" },
    spec,
  };
}

function podTemplate(name: string, cpu = "1", more: object = {}): object {
  const containers = [{ name: "app", image: "app", resources: { requests: { cpu } } }];
  const template = { metadata: { labels: { app: name } }, spec: { containers, ...more } };
  return { apiVersion: "v1", kind: "PodTemplate", metadata: { name, namespace: "default" }, template };
}

function workload(kind: string, name: string, replicas?: number): object {
  const containers = [{ name: "app", image: "app", resources: { requests: { cpu: "1" } } }];
  const selector = { matchLabels: { app: name } };
  const template = { metadata: { labels: { app: name } }, spec: { containers } };
  const serviceName = kind === "StatefulSet" ? { serviceName: name } : {};
  return {
    apiVersion: "apps/v1",
    kind,
    metadata: { name, namespace: "default" },
    spec: { selector, template, ...serviceName, ...(replicas !== undefined && { replicas }) },
  };
}

const scalableRef = (kind: string, name: string) => ({ scalableRef: { apiGroup: "apps", kind, name } });
const templateRef = { podTemplateRef: { name: "web" } };

async function buffering(around: (loop: Controller) => Controller = (loop) => loop) {
  const fired: string[] = [];
  class RecordingTrigger extends ProvisioningTrigger {
    override fire(uid: string): void {
      fired.push(uid);
    }
  }
  const trigger = new RecordingTrigger();
  const world = await controllerWorld({
    settings: { gates: { ...defaultGates, CapacityBuffer: true } },
    controllers: (dependencies) => capacityBufferControllers({ ...dependencies, trigger }).map(around),
  });
  const stored = async (name = "room"): Promise<CapacityBuffer> =>
    (await world.get<CapacityBuffer>(karpenterTypes.CapacityBuffer, name, "default")) as CapacityBuffer;
  return {
    world,
    fired,
    stored,
    verdict: async (name = "room") => {
      const { status, reason } = getCondition(await stored(name), "ReadyForProvisioning") ?? {};
      return `${status} ${reason}`;
    },
    pods: (name = "room") => world.dependencies.bufferPods.of(`default/${name}`),
  };
}

describe("capacitybuffer", () => {
  it("02:B-2, B-4 a PodTemplate is resolved, and the status tells how", async () => {
    const { world, stored, pods, fired } = await buffering();
    await world.create(podTemplate("web"), buffer("room", { ...templateRef, replicas: 3 }));
    const found = await stored();
    expect(found.status).toMatchObject({
      replicas: 3,
      podTemplateRef: { name: "web" },
      podTemplateGeneration: 1,
      provisioningStrategy: "buffer.x-k8s.io/active-capacity",
    });
    expect(getCondition(found, "ReadyForProvisioning")).toMatchObject({
      status: "True",
      reason: "Resolved",
      message: "Pod template resolved successfully",
      observedGeneration: 1,
    });
    expect(getCondition(found, "Provisioning")).toBeUndefined();
    expect(pods()?.map(({ metadata }) => [metadata.name, metadata.uid, metadata.labels])).toEqual(
      [1, 2, 3].map((index) => [`capacity-buffer-room-${index}`, `${found.metadata.uid}-${index}`, { app: "web" }]),
    );
    expect(pods()?.[0]?.metadata.annotations).toEqual({
      [annotations.bufferFakePod]: "true",
      [annotations.bufferName]: "room",
      [annotations.bufferNamespace]: "default",
    });
    expect(fired).toEqual([found.metadata.uid]);
    await world.stop();
  });

  it.each(["Deployment", "StatefulSet", "ReplicaSet"])(
    "02:B-2 a %s that comes later is found at once",
    async (kind) => {
      const { world, verdict, pods } = await buffering();
      await world.create(buffer("room", { ...scalableRef(kind, "web"), percentage: 50 }));
      expect(await verdict()).toBe("False ScalableRefNotFound");
      await world.create(workload(kind, "web", 4), workload(kind, "other", 8));
      expect([await verdict(), pods()?.length]).toEqual(["True Resolved", 2]);
      const type = { Deployment: builtInTypes.Deployment, StatefulSet: builtInTypes.StatefulSet }[kind];
      const scaled = { name: "web", namespace: "default" };
      const patch = { kind: "merge", body: { spec: { replicas: 8 } } } as const;
      await world.client.patch(type ?? builtInTypes.ReplicaSet, scaled, patch);
      await world.pass(0);
      expect(pods()).toHaveLength(4);
      await world.client.delete(type ?? builtInTypes.ReplicaSet, scaled);
      await world.pass(0);
      expect([await verdict(), pods()]).toEqual(["False ScalableRefNotFound", []]);
      await world.stop();
    },
  );

  it.each(["Deployment", "StatefulSet", "ReplicaSet"])("02:B-2 a %s is resolved, in percent", async (kind) => {
    const { world, stored, verdict, pods } = await buffering();
    await world.create(workload(kind, "web", 10), buffer("room", { ...scalableRef(kind, "web"), percentage: 25 }));
    expect(await verdict()).toBe("True Resolved");
    const { status } = await stored();
    expect([status?.replicas, status?.podTemplateRef, status?.podTemplateGeneration]).toEqual([
      3,
      undefined,
      undefined,
    ]);
    expect(pods()).toHaveLength(3);
    await world.stop();
  });

  it("02:B-2 without an apiGroup apps is meant", async () => {
    const { world, verdict } = await buffering();
    const ref = { scalableRef: { kind: "Deployment", name: "web" } };
    await world.create(workload("Deployment", "web", 4), buffer("room", { ...ref, percentage: 50 }));
    expect(await verdict()).toBe("True Resolved");
    await world.stop();
  });

  it.each<[string, Spec, string]>([
    ["a PodTemplate that is not there", { ...templateRef, replicas: 1 }, "False PodTemplateNotFound"],
    ["a workload that is not there", { ...scalableRef("Deployment", "web"), replicas: 1 }, "False ScalableRefNotFound"],
    ["no reference", { replicas: 1 }, "False ResolutionFailed"],
    ["a kind that does not scale", { ...scalableRef("DaemonSet", "web"), replicas: 1 }, "False ResolutionFailed"],
    [
      "a foreign group",
      { scalableRef: { apiGroup: "example.com", kind: "Deployment", name: "web" }, replicas: 1 },
      "False ResolutionFailed",
    ],
  ])("02:B-1, B-2 %s: it stands for nothing, and no round is asked for", async (_, spec, expected) => {
    const { world, verdict, pods, fired } = await buffering();
    await world.create(buffer("room", spec));
    expect(await verdict()).toBe(expected);
    expect([pods(), fired, world.failures]).toEqual([[], [], []]);
    await world.stop();
  });

  it("02:B-5 more replicas than are supported: it stands for nothing, and says why", async () => {
    const { world, pods, stored } = await buffering();
    await world.create(podTemplate("web"), buffer("room", { ...templateRef, replicas: 2_000_000 }));
    expect(getCondition(await stored(), "ReadyForProvisioning")).toMatchObject({
      status: "False",
      reason: "ResolutionFailed",
      message: "the buffers have more replicas together than supported; lower replicas, percentage or limits",
    });
    expect(pods()).toEqual([]);
    await world.stop();
  });

  it("02:B-2 a server that does not say is asked again, and what is known stays", async () => {
    let isBroken = false;
    const around = (loop: Controller): Controller => ({
      ...loop,
      run: (world, signal) => {
        const { client } = world;
        const get_: typeof client.get = async (type, key) => {
          if (isBroken) throw new Error("no answer");
          return client.get(type, key);
        };
        const shaky = {
          get: get_,
          list: client.list.bind(client),
          watch: client.watch.bind(client),
          create: client.create.bind(client),
          update: client.update.bind(client),
          patch: client.patch.bind(client),
          delete: client.delete.bind(client),
        };
        return loop.run({ ...world, client: shaky }, signal);
      },
    });
    const { world, verdict, pods, stored } = await buffering(around);
    await world.create(podTemplate("web"), buffer("room", { ...templateRef, replicas: 2 }));
    expect(pods()).toHaveLength(2);
    isBroken = true;
    await world.pass(31);
    expect(await verdict()).toBe("False ResolutionFailed");
    expect([pods()?.length, (await stored()).status?.replicas]).toEqual([2, 2]);
    expect(world.failures[0]).toMatchObject({
      kind: "reconcile-failed",
      controller: "capacitybuffer",
      key: "default/room",
    });
    isBroken = false;
    await world.pass(120);
    expect(await verdict()).toBe("True Resolved");
    await world.stop();
  });

  it.each<[string, Spec, number]>([
    ["replicas", { ...templateRef, replicas: 4 }, 4],
    ["replicas that limits cut", { ...templateRef, replicas: 9, limits: { cpu: "3500m" } }, 3],
    ["replicas within the limits", { ...templateRef, replicas: 2, limits: { cpu: "10" } }, 2],
    ["limits alone", { ...templateRef, limits: { cpu: "5" } }, 5],
    ["limits of something else", { ...templateRef, replicas: 4, limits: { "example.com/gpu": "1" } }, 4],
    ["a percentage alone", { ...scalableRef("Deployment", "app"), percentage: 30 }, 3],
    ["more replicas than percentage", { ...scalableRef("Deployment", "app"), percentage: 30, replicas: 5 }, 5],
    ["more percentage than replicas", { ...scalableRef("Deployment", "app"), percentage: 80, replicas: 5 }, 8],
    [
      "both, cut by limits",
      { ...scalableRef("Deployment", "app"), percentage: 80, replicas: 5, limits: { cpu: "6" } },
      6,
    ],
    ["a small percentage", { ...scalableRef("Deployment", "app"), percentage: 1 }, 1],
    ["a workload that does not say", { ...scalableRef("Deployment", "one"), percentage: 100 }, 1],
    ["a workload scaled to zero", { ...scalableRef("Deployment", "none"), percentage: 100 }, 0],
    ["a percentage of zero", { ...scalableRef("Deployment", "app"), percentage: 0 }, 0],
    ["limits below one pod", { ...templateRef, replicas: 4, limits: { cpu: "500m" } }, 0],
  ])("02:B-3 %s", async (_, spec, count) => {
    const { world, stored, pods } = await buffering();
    await world.create(podTemplate("web"), workload("Deployment", "app", 10), workload("Deployment", "none", 0));
    await world.create(workload("Deployment", "one"), buffer("room", spec));
    expect([(await stored()).status?.replicas, pods()?.length]).toEqual([count, count]);
    await world.stop();
  });

  it("02:B-5 volumes that would need claims are left out, and priority is the least there is", async () => {
    const { world, pods } = await buffering();
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
    await world.create(podTemplate("web", "1", { volumes }), buffer("room", { ...templateRef, replicas: 1 }));
    expect(pods()?.[0]?.spec).toMatchObject({ volumes: [], priority: -2147483648 });
    await world.stop();
  });

  it("02:B-4 a changed PodTemplate is taken up at once, by the buffers that use it", async () => {
    const { world, stored, pods, fired } = await buffering();
    await world.create(podTemplate("web"), podTemplate("other"));
    await world.create(
      buffer("room", { ...templateRef, replicas: 1 }),
      buffer("second", { ...templateRef, replicas: 1 }),
      buffer("elsewhere", { podTemplateRef: { name: "other" }, replicas: 1 }),
    );
    const before = fired.length;
    const template = { spec: { containers: [{ name: "app", image: "app", resources: { requests: { cpu: "7" } } }] } };
    await world.client.patch(
      builtInTypes.PodTemplate,
      { name: "web", namespace: "default" },
      { kind: "merge", body: { template } },
    );
    await world.clock.advance(0);
    expect((await stored()).status?.podTemplateGeneration).toBe(2);
    const cpus = ["room", "second", "elsewhere"].map(
      (name) => pods(name)?.[0]?.spec.containers?.[0]?.resources?.requests?.cpu,
    );
    expect(cpus).toEqual(["7", "7", "1"]);
    expect(fired.length - before).toBe(2);
    await world.stop();
  });

  it("02:B-4 a PodTemplate that comes late, or goes, is noticed at once", async () => {
    const { world, verdict, pods } = await buffering();
    await world.create(buffer("room", { ...templateRef, replicas: 2 }));
    expect(await verdict()).toBe("False PodTemplateNotFound");
    await world.create(podTemplate("web"));
    expect([await verdict(), pods()?.length]).toEqual(["True Resolved", 2]);
    await world.client.delete(builtInTypes.PodTemplate, { name: "web", namespace: "default" });
    await world.clock.advance(0);
    expect([await verdict(), pods()]).toEqual(["False PodTemplateNotFound", []]);
    await world.stop();
  });

  it("02:B-4 a buffer is looked at again every thirty seconds, and each time a round is asked for", async () => {
    const { world, pods, fired } = await buffering();
    const spec = { ...scalableRef("Deployment", "web"), percentage: 50 };
    await world.create(workload("Deployment", "web", 10), buffer("room", spec));
    const before = fired.length;
    expect(pods()).toHaveLength(5);
    await world.pass(29);
    expect(fired).toHaveLength(before);
    await world.pass(1);
    expect([pods()?.length, fired.length]).toEqual([5, before + 1]);
    await world.stop();
  });

  it("02:B-4 a changed buffer is taken up at once; its status is no change", async () => {
    const { world, pods, fired, stored } = await buffering();
    await world.create(podTemplate("web"), buffer("room", { ...templateRef, replicas: 1 }));
    await world.status(await stored(), { replicas: 1 });
    expect(fired).toHaveLength(1);
    await world.client.patch(
      karpenterTypes.CapacityBuffer,
      { name: "room", namespace: "default" },
      { kind: "merge", body: { spec: { replicas: 6 } } },
    );
    await world.clock.advance(0);
    expect([pods()?.length, (await stored()).status?.replicas, fired.length]).toEqual([6, 6, 2]);
    await world.stop();
  });

  it("02:B-7 conditions of others are left alone", async () => {
    const { world, stored, verdict } = await buffering();
    await world.create(podTemplate("web"), buffer("room", { ...templateRef, replicas: 1 }));
    const lastTransitionTime = "2026-01-01T00:00:00Z";
    const told = {
      type: "Provisioning",
      status: "True",
      reason: "FitsExistingCapacity",
      message: "",
      lastTransitionTime,
    };
    await world.status(await stored(), { conditions: [...((await stored()).status?.conditions ?? []), told] });
    await world.client.delete(builtInTypes.PodTemplate, { name: "web", namespace: "default" });
    await world.clock.advance(0);
    expect(await verdict()).toBe("False PodTemplateNotFound");
    expect(getCondition(await stored(), "Provisioning")?.status).toBe("True");
    await world.stop();
  });

  it("02:B-5 a buffer that is deleted takes its pods along", async () => {
    const { world, pods } = await buffering();
    await world.create(podTemplate("web"), buffer("room", { ...templateRef, replicas: 1 }));
    await world.client.delete(karpenterTypes.CapacityBuffer, { name: "room", namespace: "default" });
    await world.clock.advance(0);
    expect([pods(), world.dependencies.bufferPods.all()]).toEqual([undefined, []]);
    await world.stop();
  });

  it("02 §8.2 is there only with its gate", async () => {
    const { world } = await buffering();
    const names = (CapacityBuffer: boolean): readonly string[] => {
      const settings = { ...world.dependencies.settings, gates: { ...defaultGates, CapacityBuffer } };
      return capacityBufferControllers({ ...world.dependencies, settings }).map(({ name }) => name);
    };
    expect([names(false), names(true)]).toEqual([[], ["capacitybuffer"]]);
    await world.stop();
  });
});
