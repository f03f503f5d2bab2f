import { expect } from "vitest";
import { defaultGates } from "../../src/controllers/settings.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { claimsOf, conditionOf, nameOf, podsOf, running, says, settled, theNode } from "./facts.ts";
import { isIn, kwokClass, pool } from "./manifests.ts";
import type { Stage, Story } from "./story.ts";
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

const isWarm = (stage: Stage) => says(stage, { ...said("Provisioning"), reason: "FitsExistingCapacity" });

export const buffers: readonly Story[] = [
  {
    title: "02:B-7 a buffer keeps nodes warm that nothing runs on",
    isSmoke: true,
    settings,
    play: async (stage) => {
      await stage.apply(kwokClass, fours, chunk, buffer({ podTemplateRef: { name: "chunk" }, replicas: 2 }));
      await stage.until("two nodes", settled(stage, 2));
      await stage.until("it is warm", isWarm(stage));
      const found = await stage.get(karpenterTypes.CapacityBuffer, "spare");
      expect(found?.status).toMatchObject({ replicas: 2, podTemplateRef: { name: "chunk" } });
      expect(conditionOf(found ?? {}, "ReadyForProvisioning")).toMatchObject({ status: "True", reason: "Resolved" });
      expect(await stage.list(builtInTypes.Pod)).toEqual([]);
    },
  },
  {
    title: "02:B-6 real pods take the buffer's room at once, and it is made anew",
    settings,
    play: async (stage) => {
      await stage.apply(kwokClass, fours, chunk, buffer({ podTemplateRef: { name: "chunk" }, replicas: 1 }));
      await stage.until("one node", settled(stage, 1));
      const warm = nameOf(await theNode(stage));
      await stage.apply(deployment("web", { cpu: "3" }));
      await stage.until("it runs", running(stage, "web", 1));
      expect((await podsOf(stage, "web")).map(({ spec }) => spec.nodeName)).toEqual([warm]);
      await stage.until("another is kept warm", settled(stage, 2), 90);
      await stage.until("it is warm", isWarm(stage), 90);
    },
  },
  {
    title: "02:B-3 a buffer follows the size of the workload it is for",
    needsVirtualTime: true,
    settings,
    play: async (stage) => {
      const scalableRef = { apiGroup: "apps", kind: "Deployment", name: "web" };
      await stage.apply(
        kwokClass,
        fours,
        deployment("web", { replicas: 2, cpu: "3" }),
        buffer({ scalableRef, percentage: 50 }),
      );
      await stage.until("both run", running(stage, "web", 2));
      await stage.until("one more is kept", settled(stage, 3));
      await stage.scale("web", 4);
      await stage.until("four run", running(stage, "web", 4));
      await stage.until("two more are kept", settled(stage, 6));
      expect((await stage.get(karpenterTypes.CapacityBuffer, "spare"))?.status).toMatchObject({ replicas: 2 });
    },
  },
  {
    title: "02:B-2 a buffer of nothing known says so, and is filled once it is known",
    settings,
    play: async (stage) => {
      await stage.apply(kwokClass, fours, buffer({ podTemplateRef: { name: "chunk" }, replicas: 1 }));
      await stage.until(
        "it says so",
        says(stage, { ...said("ReadyForProvisioning"), is: "False", reason: "PodTemplateNotFound" }),
      );
      expect(await claimsOf(stage)).toEqual([]);
      await stage.apply(chunk);
      await stage.until("one node", settled(stage, 1), 90);
    },
  },
  {
    title: "03 §6.4 without the gate a buffer keeps nothing",
    play: async (stage) => {
      await stage.apply(kwokClass, fours, chunk, buffer({ podTemplateRef: { name: "chunk" }, replicas: 1 }));
      await stage.pass(15);
      expect(await claimsOf(stage)).toEqual([]);
      expect((await stage.get(karpenterTypes.CapacityBuffer, "spare"))?.status).toBeUndefined();
    },
  },
];
