import { expect } from "vitest";
import { annotations, labels } from "../../src/api/labels.ts";
import { defaultGates } from "../../src/controllers/settings.ts";
import { karpenterTypes } from "../../src/kube/resources.ts";
import { isTrue, nameOf, running, says, settled, theClaim, theNode, told, whereRuns } from "./facts.ts";
import { isIn, kwokClass, pool } from "./manifests.ts";
import type { Story } from "./story.ts";
import { barePod, deployment } from "./workloads.ts";

const settings = { gates: { ...defaultGates, NodeOverlay: true } };

function overlay(name: string, spec: object) {
  return { apiVersion: "karpenter.sh/v1alpha1", kind: "NodeOverlay", metadata: { name }, spec };
}

const big = [isIn(labels.instanceType, "m-64x-amd64-linux")];
const judged = (name: string) =>
  ({ type: karpenterTypes.NodeOverlay, name, condition: "ValidationSucceeded" }) as const;

export const overlays: readonly Story[] = [
  {
    title: "02:O-2 an overlay makes a machine cheap, and that is the one bought",
    isSmoke: true,
    settings,
    run: async (cluster) => {
      await cluster.apply(kwokClass, overlay("discount", { requirements: big, price: "0.0001" }), pool());
      await cluster.until("it is valid", says(cluster, judged("discount")));
      await cluster.apply(deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      expect(await whereRuns(cluster, "web", labels.instanceType)).toEqual(["m-64x-amd64-linux"]);
      expect((await theClaim(cluster)).metadata.annotations?.[annotations.priceOverlayApplied]).toBe("true");
    },
  },
  {
    title: "02:O-2 an overlay makes what is cheap dear, and something else is bought",
    settings,
    run: async (cluster) => {
      const requirements = [isIn(labels.capacityType, "spot")];
      await cluster.apply(kwokClass, overlay("risk", { requirements, priceAdjustment: "+100%" }), pool());
      await cluster.until("it is valid", says(cluster, judged("risk")));
      await cluster.apply(deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      expect(await whereRuns(cluster, "web", labels.capacityType)).toEqual(["on-demand"]);
    },
  },
  {
    title: "02:O-6 an overlay tells of a device, and pods that need it get it",
    settings,
    run: async (cluster) => {
      await cluster.apply(
        kwokClass,
        overlay("fpga", { requirements: big, capacity: { "example.com/fpga": "2" } }),
        pool(),
      );
      await cluster.until("it is valid", says(cluster, judged("fpga")));
      const amounts = { cpu: "1", memory: "1Gi", "example.com/fpga": "1" };
      const container = { resources: { requests: amounts, limits: { "example.com/fpga": "1" } } };
      await cluster.apply(deployment("sim", { replicas: 2, container }));
      await cluster.until("both run", running(cluster, "sim", 2));
      const { metadata, status } = await theNode(cluster);
      expect(metadata.labels?.[labels.instanceType]).toBe("m-64x-amd64-linux");
      expect(status?.allocatable?.["example.com/fpga"]).toBe("2");
      await cluster.until("one node", settled(cluster, 1));
    },
  },
  {
    title: "02:O-7 of two overlays that contradict each other one says so, and is not used",
    settings,
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool());
      await cluster.apply(
        overlay("a", { requirements: big, price: "9" }),
        overlay("b", { requirements: big, price: "0.0001" }),
      );
      await cluster.until("one is in the way", says(cluster, { ...judged("a"), is: "False", reason: "Conflict" }));
      await cluster.until("the other is not", says(cluster, judged("b")));
      await cluster.apply(deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      expect(await whereRuns(cluster, "web", labels.instanceType)).toEqual(["m-64x-amd64-linux"]);
    },
  },
  {
    title: "02:O-3 the overlay of higher weight counts, and when it goes the other does",
    settings,
    run: async (cluster) => {
      const strong = overlay("strong", { requirements: big, price: "9", weight: 100 });
      await cluster.apply(
        kwokClass,
        strong,
        overlay("weak", { requirements: big, price: "0.0001", weight: 1 }),
        pool(),
      );
      for (const name of ["strong", "weak"]) await cluster.until(`${name} is valid`, says(cluster, judged(name)));
      await cluster.apply(deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      expect(await whereRuns(cluster, "web", labels.instanceType)).toEqual(["c-2x-amd64-linux"]);
      await cluster.remove(karpenterTypes.NodeOverlay, "strong");
      await cluster.apply(deployment("more", { cpu: "2" }));
      await cluster.until("more runs", running(cluster, "more", 1));
      expect(await whereRuns(cluster, "more", labels.instanceType)).toEqual(["m-64x-amd64-linux"]);
    },
  },
  {
    title: "03 §6.4 without the gate an overlay changes nothing",
    run: async (cluster) => {
      await cluster.apply(
        kwokClass,
        overlay("discount", { requirements: big, price: "0.0001" }),
        pool(),
        barePod("web"),
      );
      await cluster.until("it runs", running(cluster, "web", 1));
      expect(await whereRuns(cluster, "web", labels.instanceType)).toEqual(["c-2x-amd64-linux"]);
      expect(isTrue((await cluster.get(karpenterTypes.NodeOverlay, "discount")) ?? {}, "ValidationSucceeded")).toBe(
        false,
      );
      expect(
        await told(cluster, { about: nameOf(await theClaim(cluster)), reason: "InsufficientCapacityError" })(),
      ).toBe(false);
    },
  },
];
