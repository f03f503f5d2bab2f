import { expect } from "vitest";
import { labels } from "../../src/api/labels.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import {
  claimsOf,
  isTrue,
  type LivePod,
  logged,
  nameOf,
  nodesOf,
  nothingLeft,
  podsOf,
  running,
  scaleToNone,
  settled,
  theClaim,
  theNode,
  whereRuns,
} from "./facts.ts";
import { isIn, kwokClass, pool } from "./manifests.ts";
import type { Story } from "./story.ts";
import { barePod, daemonSet, deployment, job, onePerNode, podTemplate, spreadOver } from "./workloads.ts";

export const scaling: readonly Story[] = [
  {
    title: "02:P-30 03:L-7 a deployment gets nodes and runs; without it and its claims nothing is left",
    isSmoke: true,
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("web", { replicas: 10, cpu: "2", memory: "4Gi" }));
      await cluster.until("all pods run", running(cluster, "web", 10));
      const claims = await claimsOf(cluster);
      expect(await nodesOf(cluster)).toHaveLength(claims.length);
      await scaleToNone(cluster, "web");
      for (const claim of claims) await cluster.remove(karpenterTypes.NodeClaim, nameOf(claim));
      await cluster.until("all is given back", nothingLeft(cluster));
    },
  },
  {
    title: "02:P-20 deployments that arrive together share a node",
    settings: { batchIdleMs: 1_000, batchMaxMs: 10_000 },
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("one"), deployment("two"), deployment("three"));
      for (const app of ["one", "two", "three"]) await cluster.until(`${app} runs`, running(cluster, app, 1));
      await cluster.until("one node", settled(cluster, 1));
      expect(logged(cluster, "created nodeclaim")).toBe(1);
    },
  },
  {
    title: "02:P-30 more replicas use the room there is before another node is bought",
    run: async (cluster) => {
      const four = pool({ requirements: [isIn("karpenter.kwok.sh/instance-cpu", "4")] });
      await cluster.apply(kwokClass, four, deployment("web", { replicas: 2 }));
      await cluster.until("two run", running(cluster, "web", 2));
      const first = await theNode(cluster);
      await cluster.scale("web", 3);
      await cluster.until("three run", running(cluster, "web", 3));
      expect(nameOf(await theNode(cluster))).toBe(nameOf(first));
      await cluster.scale("web", 5);
      await cluster.until("five run", running(cluster, "web", 5));
      await cluster.until("a second node", settled(cluster, 2));
    },
  },
  {
    title: "03:L-35 scaled to zero, and the pool deleted: its claims, nodes and machines follow",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("web", { replicas: 3 }));
      await cluster.until("all run", running(cluster, "web", 3));
      await cluster.scale("web", 0);
      await cluster.until("no pods", running(cluster, "web", 0));
      await cluster.remove(karpenterTypes.NodePool, "default");
      await cluster.until("all is given back", nothingLeft(cluster));
      expect(await cluster.get(karpenterTypes.NodePool, "default")).toBeUndefined();
    },
  },
  {
    title: "02:P-30 a rollout replaces every pod, and never has fewer than it may",
    run: async (cluster) => {
      const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
      const web = (version: string) => {
        const { spec, ...rest } = deployment("web", { replicas: 3, cpu: "3", labels: { version } });
        return { ...rest, spec: { ...spec, strategy } };
      };
      await cluster.apply(kwokClass, pool(), web("1"));
      await cluster.until("version 1 runs", running(cluster, "web", 3));
      await cluster.apply(web("2"));
      await cluster.until("version 2 runs alone", async () => {
        const pods = await podsOf(cluster, "web");
        expect(pods.filter((pod) => isTrue(pod, "Ready")).length).toBeGreaterThanOrEqual(3);
        return pods.length === 3 && pods.every(({ metadata }) => metadata.labels?.["version"] === "2");
      });
    },
  },
  {
    title: "02:G-3 a node is bought with room for the daemons it will run",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), daemonSet("agent", { cpu: "2" }), deployment("web", { cpu: "1500m" }));
      await cluster.until("the pod runs", running(cluster, "web", 1));
      await cluster.until("the daemon runs", running(cluster, "agent", 1));
      const { spec } = await theClaim(cluster);
      expect(spec.resources?.requests).toMatchObject({ cpu: "3500m", memory: "2Gi", pods: "2" });
      expect((await theNode(cluster)).metadata.labels?.[labels.instanceType]).toBe("c-4x-amd64-linux");
    },
  },
  {
    title: "02:X-25 a spread over zones buys a node in each",
    run: async (cluster) => {
      const web = deployment("web", { replicas: 4, pod: spreadOver("web", labels.zone) });
      await cluster.apply(kwokClass, pool(), web);
      await cluster.until("all run", running(cluster, "web", 4));
      const zones = ["test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"];
      expect(await whereRuns(cluster, "web", labels.zone)).toEqual(zones);
    },
  },
  {
    title: "02:X-35 pods that cannot stand each other get a node each",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("web", { replicas: 3, pod: onePerNode("web") }));
      await cluster.until("all run", running(cluster, "web", 3));
      expect(new Set(await whereRuns(cluster, "web", labels.hostname)).size).toBe(3);
      await cluster.until("three nodes", settled(cluster, 3));
    },
  },
  {
    title: "02:S-50 pods with the same host port get a node each",
    run: async (cluster) => {
      const ports = [{ containerPort: 80, hostPort: 8080 }];
      await cluster.apply(kwokClass, pool(), deployment("web", { replicas: 2, container: { ports } }));
      await cluster.until("both run", running(cluster, "web", 2));
      await cluster.until("two nodes", settled(cluster, 2));
    },
  },
  {
    title: "02:P-30 a job's pods get a node and finish",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), job("sums", { seconds: 2, completions: 3 }));
      await cluster.until("the job is complete", async () => {
        const found = await cluster.get(builtInTypes.Job, "sums");
        return found !== undefined && isTrue(found, "Complete");
      });
      const pods = await cluster.list<LivePod>(builtInTypes.Pod);
      expect(pods.map(({ status }) => status?.phase)).toEqual(["Succeeded", "Succeeded", "Succeeded"]);
      await cluster.until("they shared a node", settled(cluster, 1));
    },
  },
  {
    title: "02:P-4 daemons alone buy nothing",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), daemonSet("agent"));
      await cluster.pass(15);
      expect(await claimsOf(cluster)).toEqual([]);
      await cluster.apply(barePod("lonely"));
      await cluster.until("a pod brings a node for both", running(cluster, "agent", 1));
    },
  },
  {
    title: "02:P-1 a gated pod waits until its gate opens",
    run: async (cluster) => {
      const { metadata, spec } = podTemplate("gated");
      const gated = { ...spec, schedulingGates: [{ name: "example.com/wait" }] };
      await cluster.apply(kwokClass, pool(), {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { ...metadata, name: "gated" },
        spec: gated,
      });
      await cluster.pass(15);
      expect(await claimsOf(cluster)).toEqual([]);
      await cluster.patch(builtInTypes.Pod, "gated", { spec: { schedulingGates: null } });
      await cluster.until("it runs", running(cluster, "gated", 1));
    },
  },
];
