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
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("web", { replicas: 10, cpu: "2", memory: "4Gi" }));
      await stage.until("all pods run", running(stage, "web", 10));
      const claims = await claimsOf(stage);
      expect(await nodesOf(stage)).toHaveLength(claims.length);
      await stage.scale("web", 0);
      for (const claim of claims) await stage.remove(karpenterTypes.NodeClaim, nameOf(claim));
      await stage.until("all is given back", nothingLeft(stage));
    },
  },
  {
    title: "02:P-20 deployments that arrive together share a node",
    settings: { batchIdleMs: 1_000, batchMaxMs: 10_000 },
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("one"), deployment("two"), deployment("three"));
      for (const app of ["one", "two", "three"]) await stage.until(`${app} runs`, running(stage, app, 1));
      await stage.until("one node", settled(stage, 1));
      expect(logged(stage, "created nodeclaim")).toBe(1);
    },
  },
  {
    title: "02:P-30 more replicas use the room there is before another node is bought",
    play: async (stage) => {
      const four = pool({ requirements: [isIn("karpenter.kwok.sh/instance-cpu", "4")] });
      await stage.apply(kwokClass, four, deployment("web", { replicas: 2 }));
      await stage.until("two run", running(stage, "web", 2));
      const first = await theNode(stage);
      await stage.scale("web", 3);
      await stage.until("three run", running(stage, "web", 3));
      expect(nameOf(await theNode(stage))).toBe(nameOf(first));
      await stage.scale("web", 5);
      await stage.until("five run", running(stage, "web", 5));
      await stage.until("a second node", settled(stage, 2));
    },
  },
  {
    title: "03:L-35 scaled to zero, and the pool deleted: its claims, nodes and machines follow",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("web", { replicas: 3 }));
      await stage.until("all run", running(stage, "web", 3));
      await stage.scale("web", 0);
      await stage.until("no pods", running(stage, "web", 0));
      await stage.remove(karpenterTypes.NodePool, "default");
      await stage.until("all is given back", nothingLeft(stage));
      expect(await stage.get(karpenterTypes.NodePool, "default")).toBeUndefined();
    },
  },
  {
    title: "02:P-30 a rollout replaces every pod, and never has fewer than it may",
    play: async (stage) => {
      const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
      const web = (version: string) => {
        const { spec, ...rest } = deployment("web", { replicas: 3, cpu: "3", labels: { version } });
        return { ...rest, spec: { ...spec, strategy } };
      };
      await stage.apply(kwokClass, pool(), web("1"));
      await stage.until("version 1 runs", running(stage, "web", 3));
      await stage.apply(web("2"));
      await stage.until("version 2 runs alone", async () => {
        const pods = await podsOf(stage, "web");
        expect(pods.filter((pod) => isTrue(pod, "Ready")).length).toBeGreaterThanOrEqual(3);
        return pods.length === 3 && pods.every(({ metadata }) => metadata.labels?.["version"] === "2");
      });
    },
  },
  {
    title: "02:G-3 a node is bought with room for the daemons it will run",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), daemonSet("agent", { cpu: "2" }), deployment("web", { cpu: "1500m" }));
      await stage.until("the pod runs", running(stage, "web", 1));
      await stage.until("the daemon runs", running(stage, "agent", 1));
      const { spec } = await theClaim(stage);
      expect(spec.resources?.requests).toMatchObject({ cpu: "3500m", memory: "2Gi", pods: "2" });
      expect((await theNode(stage)).metadata.labels?.[labels.instanceType]).toBe("c-4x-amd64-linux");
    },
  },
  {
    title: "02:X-25 a spread over zones buys a node in each",
    play: async (stage) => {
      const web = deployment("web", { replicas: 4, pod: spreadOver("web", labels.zone) });
      await stage.apply(kwokClass, pool(), web);
      await stage.until("all run", running(stage, "web", 4));
      const zones = ["test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"];
      expect(await whereRuns(stage, "web", labels.zone)).toEqual(zones);
    },
  },
  {
    title: "02:X-35 pods that cannot stand each other get a node each",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("web", { replicas: 3, pod: onePerNode("web") }));
      await stage.until("all run", running(stage, "web", 3));
      expect(new Set(await whereRuns(stage, "web", labels.hostname)).size).toBe(3);
      await stage.until("three nodes", settled(stage, 3));
    },
  },
  {
    title: "02:S-50 pods with the same host port get a node each",
    play: async (stage) => {
      const ports = [{ containerPort: 80, hostPort: 8080 }];
      await stage.apply(kwokClass, pool(), deployment("web", { replicas: 2, container: { ports } }));
      await stage.until("both run", running(stage, "web", 2));
      await stage.until("two nodes", settled(stage, 2));
    },
  },
  {
    title: "02:P-30 a job's pods get a node and finish",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), job("sums", { seconds: 2, completions: 3 }));
      await stage.until("the job is complete", async () => {
        const found = await stage.get(builtInTypes.Job, "sums");
        return found !== undefined && isTrue(found, "Complete");
      });
      const pods = await stage.list<LivePod>(builtInTypes.Pod);
      expect(pods.map(({ status }) => status?.phase)).toEqual(["Succeeded", "Succeeded", "Succeeded"]);
      await stage.until("they shared a node", settled(stage, 1));
    },
  },
  {
    title: "02:P-4 daemons alone buy nothing",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), daemonSet("agent"));
      await stage.pass(15);
      expect(await claimsOf(stage)).toEqual([]);
      await stage.apply(barePod("lonely"));
      await stage.until("a pod brings a node for both", running(stage, "agent", 1));
    },
  },
  {
    title: "02:P-1 a gated pod waits until its gate opens",
    play: async (stage) => {
      const { metadata, spec } = podTemplate("gated");
      const gated = { ...spec, schedulingGates: [{ name: "example.com/wait" }] };
      await stage.apply(kwokClass, pool(), {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { ...metadata, name: "gated" },
        spec: gated,
      });
      await stage.pass(15);
      expect(await claimsOf(stage)).toEqual([]);
      await stage.patch(builtInTypes.Pod, "gated", { spec: { schedulingGates: null } });
      await stage.until("it runs", running(stage, "gated", 1));
    },
  },
];
