import { expect } from "vitest";
import { defaultGates } from "../../src/controllers/settings.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { claimsOf, conditionOf, nameOf, podsOf, running, says, settled, theNode } from "./facts.ts";
import { isIn, kwokClass, pool } from "./manifests.ts";
import type { Story, StoryCluster } from "./story.ts";
import { deployment, podTemplate } from "./workloads.ts";

const settings = { gates: { ...defaultGates, CapacityBuffer: true } };

function buffer(spec: object) {
  return { apiVersion: "autoscaling.x-k8s.io/v1beta1", kind: "CapacityBuffer", metadata: { name: "spare" }, spec };
}

const chunk = {
  apiVersion: "v1",
  kind: "PodTemplate",
  metadata: { name: "chunk" },
  template: podTemplate("chunk", { cpu: "3" }),
};
const fours = pool({ requirements: [isIn("karpenter.kwok.sh/instance-cpu", "4")] });
const said = (condition: string) => ({ type: karpenterTypes.CapacityBuffer, name: "spare", condition }) as const;

const isWarm = (cluster: StoryCluster) => says(cluster, { ...said("Provisioning"), reason: "FitsExistingCapacity" });

export const buffers: readonly Story[] = [
  {
    title: "02:B-7 a buffer keeps nodes warm that nothing runs on",
    isSmoke: true,
    settings,
    run: async (cluster) => {
      await cluster.apply(kwokClass, fours, chunk, buffer({ podTemplateRef: { name: "chunk" }, replicas: 2 }));
      await cluster.until("two nodes", settled(cluster, 2));
      await cluster.until("it is warm", isWarm(cluster), 15); // by the next round, not the buffer's next poll
      const found = await cluster.get(karpenterTypes.CapacityBuffer, "spare");
      expect(found?.status).toMatchObject({ replicas: 2, podTemplateRef: { name: "chunk" } });
      expect(conditionOf(found ?? {}, "ReadyForProvisioning")).toMatchObject({ status: "True", reason: "Resolved" });
      expect(await cluster.list(builtInTypes.Pod)).toEqual([]);
    },
  },
  {
    title: "02:B-6 real pods take the buffer's room at once, and it is made anew",
    settings,
    run: async (cluster) => {
      await cluster.apply(kwokClass, fours, chunk, buffer({ podTemplateRef: { name: "chunk" }, replicas: 1 }));
      await cluster.until("one node", settled(cluster, 1));
      const warm = nameOf(await theNode(cluster));
      await cluster.apply(deployment("web", { cpu: "3" }));
      await cluster.until("it runs", running(cluster, "web", 1));
      expect((await podsOf(cluster, "web")).map(({ spec }) => spec.nodeName)).toEqual([warm]);
      await cluster.until("another is kept warm", settled(cluster, 2), 90);
      await cluster.until("it is warm", isWarm(cluster), 90);
    },
  },
  {
    title: "02:B-3 a buffer follows the size of the workload it is for",
    needsVirtualTime: true,
    settings,
    run: async (cluster) => {
      const scalableRef = { apiGroup: "apps", kind: "Deployment", name: "web" };
      await cluster.apply(
        kwokClass,
        fours,
        deployment("web", { replicas: 2, cpu: "3" }),
        buffer({ scalableRef, percentage: 50 }),
      );
      await cluster.until("both run", running(cluster, "web", 2));
      await cluster.until("one more is kept", settled(cluster, 3));
      await cluster.scale("web", 4);
      await cluster.until("four run", running(cluster, "web", 4));
      await cluster.until("two more are kept", settled(cluster, 6));
      expect((await cluster.get(karpenterTypes.CapacityBuffer, "spare"))?.status).toMatchObject({ replicas: 2 });
    },
  },
  {
    title: "02:B-2 a buffer of nothing known says so, and is filled once it is known",
    settings,
    run: async (cluster) => {
      await cluster.apply(kwokClass, fours, buffer({ podTemplateRef: { name: "chunk" }, replicas: 1 }));
      await cluster.until(
        "it says so",
        says(cluster, { ...said("ReadyForProvisioning"), is: "False", reason: "PodTemplateNotFound" }),
      );
      expect(await claimsOf(cluster)).toEqual([]);
      await cluster.apply(chunk);
      await cluster.until("one node", settled(cluster, 1), 90);
    },
  },
  {
    title: "03 §6.4 without the gate a buffer keeps nothing",
    run: async (cluster) => {
      await cluster.apply(kwokClass, fours, chunk, buffer({ podTemplateRef: { name: "chunk" }, replicas: 1 }));
      await cluster.pass(15);
      expect(await claimsOf(cluster)).toEqual([]);
      expect((await cluster.get(karpenterTypes.CapacityBuffer, "spare"))?.status).toBeUndefined();
    },
  },
];
