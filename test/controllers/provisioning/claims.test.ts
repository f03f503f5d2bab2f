import { expect, it } from "vitest";
import { nodePoolHashVersion } from "../../../src/api/hash/hash-drift.ts";
import { annotations, labels } from "../../../src/api/labels.ts";
import { instanceType } from "../../builders/instance-type.ts";
import { nodePool } from "../../builders/node-pool.ts";
import { pod } from "../../builders/pod.ts";
import { provisioningWorld, requirementOf } from "./provisioning-world.ts";

it("02:L-2 to L-5 a claim says what its pool and its pods ask for, and belongs to the pool", async () => {
  const wanted = nodePool()
    .label("team", "web")
    .annotation("example.com/why", "tests")
    .taint("example.com/dedicated=web:NoSchedule")
    .startupTaint("example.com/cni:NoExecute")
    .requires("zone", "In", "a", "b");
  const { provision, pool, logged, metrics } = await provisioningWorld({ pools: [wanted] });

  const [claim] = await provision(
    pod().named("web").cpu("3").memory("1Gi").on("capacity-type", "spot").tolerates({ operator: "Exists" }),
  );

  const owner = await pool();
  expect(claim?.metadata.name).toMatch(/^default-[a-z0-9]{5}$/);
  expect(claim?.metadata.ownerReferences).toEqual([
    {
      apiVersion: "karpenter.sh/v1",
      kind: "NodePool",
      name: "default",
      uid: owner?.metadata.uid,
      blockOwnerDeletion: true,
    },
  ]);
  expect(claim?.metadata.labels).toEqual({
    team: "web",
    [labels.nodePool]: "default",
    "karpenter.kwok.sh/kwoknodeclass": "default",
  });
  expect(claim?.metadata.annotations).toMatchObject({
    "example.com/why": "tests",
    [annotations.nodePoolHashVersion]: nodePoolHashVersion,
    [annotations.minValuesRelaxed]: "false",
  });
  expect(claim?.spec).toMatchObject({
    taints: [{ key: "example.com/dedicated", value: "web", effect: "NoSchedule" }],
    startupTaints: [{ key: "example.com/cni", effect: "NoExecute" }],
    nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
    resources: { requests: { cpu: "3", memory: "1Gi", pods: "1" } },
    expireAfter: "720h",
  });
  expect(requirementOf(claim, labels.zone)).toEqual(["a", "b"]);
  expect(requirementOf(claim, labels.capacityType)).toEqual(["spot"]);
  expect(requirementOf(claim, labels.instanceType)).toEqual(["large", "medium"]);
  expect(logged("created nodeclaim")).toMatchObject([
    {
      level: "info",
      NodePool: { name: "default" },
      NodeClaim: { name: claim?.metadata.name },
      requests: { cpu: "3", memory: "1Gi", pods: "1" },
      "instance-types": "large, medium",
    },
  ]);
  expect(metrics.series("nodeclaims_created_total")).toEqual({
    "min_values_relaxed=false,nodepool=default,reason=provisioned": 1,
  });
});

it("02:L-10 the log names the first five types", async () => {
  const types = Array.from({ length: 7 }, (_, index) => instanceType(`type-${index}`).cpu(2));
  const { provision, logged } = await provisioningWorld({ types });

  await provision(pod().named("web"));

  expect(logged("created nodeclaim")[0]?.["instance-types"]).toBe(
    "type-0, type-1, type-2, type-3, type-4 and 2 other(s)",
  );
});

it("02:S-13 a claim is in the state at once, so that nothing is decided until it is launched", async () => {
  const { provision, cluster } = await provisioningWorld();

  const [claim] = await provision(pod().named("web"));

  expect(cluster.unlaunchedClaims()).toEqual([claim?.metadata.name]);
  expect(cluster.isSynced).toBe(false);
  expect(cluster.plannedPods.claimOf("default/web")).toBe(claim?.metadata.name);
});

it.each([
  ["02:T-5 requests of daemons are part of the claim, once", { requests: { cpu: "500m" } }],
  ["02:A-7 limits of a daemon without pods and requests count as requests", { limits: { cpu: "500m" } }],
])("%s", async (_, resources) => {
  const { create, provision } = await provisioningWorld();
  const spec = { containers: [{ name: "agent", image: "agent", resources }] };
  await create({
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "agent", namespace: "default" },
    spec: {
      selector: { matchLabels: { app: "agent" } },
      template: { metadata: { labels: { app: "agent" } }, spec },
    },
  });

  const [claim] = await provision(pod().named("a").cpu("1"), pod().named("b").cpu("2"));

  expect(claim?.spec.resources?.requests).toEqual({ cpu: "3500m", pods: "3" });
});

it("02:A-3 what a pod needs to start counts, where it is more than what it needs to run", async () => {
  const { provision } = await provisioningWorld();

  const [claim] = await provision(pod().named("web").cpu("1").initContainer({ cpu: "6" }));

  expect(requirementOf(claim, labels.instanceType)).toEqual(["large", "medium"]);
});

it("02:L-1 a node takes so many pods, the next ones get another", async () => {
  const { provision } = await provisioningWorld({ types: [instanceType("tiny").cpu(16).resource("pods", "2")] });

  expect(await provision(...["a", "b", "c"].map((name) => pod().named(name).cpu("100m")))).toHaveLength(2);
});

it("02:T-1 the heavier pool is bought from, unless the pod names another", async () => {
  const { provision, launchAll, pass, claims } = await provisioningWorld({
    pools: [nodePool("light"), nodePool("heavy").weight(50)],
  });
  await provision(pod().named("any").cpu("20"));
  await launchAll();
  await provision(pod().named("choosy").cpu("20").on("karpenter.sh/nodepool", "light"));
  await pass(10);

  expect((await claims()).map(({ metadata }) => metadata.labels?.[labels.nodePool]).sort()).toEqual(["heavy", "light"]);
});

it("02:Q-40 Q-41 a wish binds if it can be met and is dropped if not; under Ignore nobody asks for it", async () => {
  const zonesOf = async (preferencePolicy: "Respect" | "Ignore", zone: string) => {
    const { provision } = await provisioningWorld({ settings: { preferencePolicy } });
    const claims = await provision(pod().named("web").prefers(1, ["zone", "In", zone]));
    return claims.map((claim) => requirementOf(claim, labels.zone));
  };

  expect(await zonesOf("Respect", "b")).toEqual([["b"]]);
  expect(await zonesOf("Respect", "nowhere")).toEqual([[]]);
  expect(await zonesOf("Ignore", "b")).toEqual([[]]);
});

it("02:Q-23 minValues that cannot be had refuse under Strict, and are lowered under BestEffort", async () => {
  const pools = [nodePool().minValues("type", 5)];
  const strict = await provisioningWorld({ pools });
  expect(await strict.provision(pod().named("web"))).toEqual([]);
  expect(await strict.events("default")).toEqual([
    {
      type: "Warning",
      reason: "NoCompatibleInstanceTypes",
      message:
        "NodePool requirements filtered out all compatible available instance types due to minValues incompatibility",
    },
  ]);

  const lenient = await provisioningWorld({ pools, settings: { minValuesPolicy: "BestEffort" } });
  const [claim] = await lenient.provision(pod().named("web"));
  expect(claim?.metadata.annotations?.[annotations.minValuesRelaxed]).toBe("true");
  expect(lenient.metrics.series("nodeclaims_created_total")).toEqual({
    "min_values_relaxed=true,nodepool=default,reason=provisioned": 1,
  });
});

it("02:L-3 a claim says that an overlay had a hand in its price", async () => {
  const { provision } = await provisioningWorld({ isOverlaid: true });

  const [claim] = await provision(pod().named("web"));

  expect(claim?.metadata.annotations?.[annotations.priceOverlayApplied]).toBe("true");
  expect(claim?.metadata.annotations?.[annotations.capacityOverlayApplied]).toBeUndefined();
});
