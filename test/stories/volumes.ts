import { expect } from "vitest";
import type { PersistentVolume } from "../../src/api/kubernetes/cluster-objects.ts";
import { labels } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import {
  claimsOf,
  conditionOf,
  givenBack,
  nameOf,
  nodesOf,
  podsOf,
  running,
  settled,
  theClaim,
  theNode,
  told,
  whereRuns,
} from "./facts.ts";
import { isIn, kwokClass, pool } from "./manifests.ts";
import type { Story, StoryCluster } from "./story.ts";
import { barePod, deployment, podTemplate, type WorkloadOptions } from "./workloads.ts";

const driver = "disks.example.com";

function storageClass(more: object = {}) {
  const volumeBindingMode = "WaitForFirstConsumer";
  const metadata = { name: "disks" };
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata,
    provisioner: driver,
    volumeBindingMode,
    ...more,
  };
}

const wanted = {
  accessModes: ["ReadWriteOnce"],
  storageClassName: "disks",
  resources: { requests: { storage: "1Gi" } },
};

function disk(name: string, spec: object = wanted) {
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name }, spec };
}

function statefulSet(name: string, options: WorkloadOptions = {}) {
  const spec = {
    serviceName: name,
    replicas: options.replicas ?? 1,
    selector: { matchLabels: { app: name } },
    template: podTemplate(name, options),
    volumeClaimTemplates: [{ metadata: { name: "data" }, spec: wanted }],
  };
  return { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name }, spec };
}

const mounting = (claimName: string) => ({ volumes: [{ name: "data", persistentVolumeClaim: { claimName } }] });

/** Zones the volumes are bound to. */
async function zonesOfDisks(cluster: StoryCluster): Promise<readonly unknown[]> {
  const disks = await cluster.list<KubeObject & PersistentVolume>(builtInTypes.PersistentVolume);
  return disks.map(({ spec }) => spec?.nodeAffinity?.required?.nodeSelectorTerms[0]?.matchExpressions?.[0]?.values);
}

export const volumes: readonly Story[] = [
  {
    title: "02:W-1 a pod with a new volume gets a node, and the volume comes to its zone",
    volumes: {},
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), storageClass(), disk("data"), barePod("db", { pod: mounting("data") }));
      await cluster.until("it runs", running(cluster, "db", 1));
      const [zone] = await whereRuns(cluster, "db", labels.zone);
      expect(await zonesOfDisks(cluster)).toEqual([[zone]]);
    },
  },
  {
    title: "02:W-1 a stateful set whose node goes comes back where its volume is",
    volumes: {},
    run: async (cluster) => {
      const zonal = pool({ requirements: [isIn(labels.zone, "test-zone-c")] });
      await cluster.apply(kwokClass, zonal, storageClass(), statefulSet("db"));
      await cluster.until("it runs", running(cluster, "db", 1));
      await cluster.apply(pool());
      const claim = await theClaim(cluster);
      await cluster.remove(karpenterTypes.NodeClaim, nameOf(claim));
      await cluster.until("its node goes", givenBack(cluster, claim));
      await cluster.until("it runs again", running(cluster, "db", 1));
      expect(await whereRuns(cluster, "db", labels.zone)).toEqual(["test-zone-c"]);
      expect((await podsOf(cluster, "db")).map(nameOf)).toEqual(["db-0"]);
      expect(await zonesOfDisks(cluster)).toEqual([["test-zone-c"]]);
    },
  },
  {
    title: "03:T-22 03:T-30 a machine stays until its volumes are off it, however slowly they come off",
    volumes: { detachMs: 40_000 },
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), storageClass(), statefulSet("db"));
      await cluster.until("it runs", running(cluster, "db", 1));
      const claim = await theClaim(cluster);
      const about = claim.status?.nodeName ?? "";
      await cluster.remove(karpenterTypes.NodeClaim, nameOf(claim));
      await cluster.until("it waits", told(cluster, { about, reason: "AwaitingVolumeDetachment" }));
      await cluster.pass(15);
      const waiting = (await claimsOf(cluster)).find((one) => nameOf(one) === nameOf(claim));
      expect(conditionOf(waiting ?? {}, "Drained")?.status).toBe("True");
      expect(conditionOf(waiting ?? {}, "VolumesDetached")).toMatchObject({
        status: "Unknown",
        reason: "AwaitingVolumeDetachment",
      });
      expect(cluster.cloud.list().map(({ nodeName }) => nodeName)).toContain(about);
      await cluster.until("its node goes", givenBack(cluster, claim));
      await cluster.until("it runs again", running(cluster, "db", 1));
    },
  },
  {
    title: "03:T-23 a deadline ends the wait for volumes",
    volumes: { detachMs: 600_000 },
    run: async (cluster) => {
      const hurried = pool({ template: { terminationGracePeriod: "30s" } });
      await cluster.apply(kwokClass, hurried, storageClass(), statefulSet("db"));
      await cluster.until("it runs", running(cluster, "db", 1));
      const claim = await theClaim(cluster);
      await cluster.remove(karpenterTypes.NodeClaim, nameOf(claim));
      await cluster.pass(20);
      expect(await givenBack(cluster, claim)()).toBe(false);
      await cluster.until("its node goes all the same", givenBack(cluster, claim), 60);
    },
  },
  {
    title: "02:S-57 a node that can attach no more volumes is not used for more of them",
    volumes: {},
    run: async (cluster) => {
      await cluster.apply(
        kwokClass,
        pool({ requirements: [isIn("karpenter.kwok.sh/instance-cpu", "16")] }),
        storageClass(),
      );
      await cluster.apply(disk("one"), barePod("first", { pod: mounting("one") }));
      await cluster.until("the first runs", running(cluster, "first", 1));
      const name = nameOf(await theNode(cluster));
      const drivers = [{ name: driver, nodeID: name, topologyKeys: [labels.zone], allocatable: { count: 1 } }];
      await cluster.apply({ apiVersion: "storage.k8s.io/v1", kind: "CSINode", metadata: { name }, spec: { drivers } });
      await cluster.apply(disk("two"), barePod("second", { pod: mounting("two") }));
      await cluster.until("the second runs", running(cluster, "second", 1));
      await cluster.until("on another node", settled(cluster, 2));
    },
  },
  {
    title: "02:V-5 a claim that binds at once must be bound before its pod is placed",
    volumes: { provisionMs: 20_000 },
    run: async (cluster) => {
      const eager = storageClass({ volumeBindingMode: "Immediate" });
      await cluster.apply(kwokClass, pool(), eager, disk("data"), barePod("db", { pod: mounting("data") }));
      const words = "pvc with immediate volume binding mode must be bound";
      await cluster.until("it says so", told(cluster, { about: "db", reason: "FailedScheduling", words }));
      expect(await nodesOf(cluster)).toEqual([]);
      await cluster.until("it runs once it is", running(cluster, "db", 1));
    },
  },
  {
    title: "02:W-1 where a class allows only one zone, the node is bought there",
    volumes: {},
    run: async (cluster) => {
      const matchLabelExpressions = [{ key: labels.zone, values: ["test-zone-b"] }];
      await cluster.apply(kwokClass, pool(), storageClass({ allowedTopologies: [{ matchLabelExpressions }] }));
      await cluster.apply(statefulSet("db", { replicas: 2 }));
      await cluster.until("both run", running(cluster, "db", 2));
      expect(await whereRuns(cluster, "db", labels.zone)).toEqual(["test-zone-b", "test-zone-b"]);
    },
  },
  {
    title: "02:V-5 03:T-20 a volume that lives with its pod comes and goes with it",
    volumes: {},
    run: async (cluster) => {
      const volume = { name: "scratch", ephemeral: { volumeClaimTemplate: { spec: wanted } } };
      await cluster.apply(kwokClass, pool(), storageClass(), deployment("web", { pod: { volumes: [volume] } }));
      await cluster.until("it runs", running(cluster, "web", 1));
      const claim = await theClaim(cluster);
      await cluster.remove(karpenterTypes.NodeClaim, nameOf(claim));
      await cluster.until("its node goes", givenBack(cluster, claim));
      await cluster.until("it runs again", running(cluster, "web", 1));
      await cluster.until(
        "the old volume is gone",
        async () => (await cluster.list(builtInTypes.PersistentVolume)).length === 1,
      );
    },
  },
];
