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
    play: async (stage) => {
      await stage.apply(kwokClass, overlay("discount", { requirements: big, price: "0.0001" }), pool());
      await stage.until("it is valid", says(stage, judged("discount")));
      await stage.apply(deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      expect(await whereRuns(stage, "web", labels.instanceType)).toEqual(["m-64x-amd64-linux"]);
      expect((await theClaim(stage)).metadata.annotations?.[annotations.priceOverlayApplied]).toBe("true");
    },
  },
  {
    title: "02:O-2 an overlay makes what is cheap dear, and something else is bought",
    settings,
    play: async (stage) => {
      const requirements = [isIn(labels.capacityType, "spot")];
      await stage.apply(kwokClass, overlay("risk", { requirements, priceAdjustment: "+100%" }), pool());
      await stage.until("it is valid", says(stage, judged("risk")));
      await stage.apply(deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      expect(await whereRuns(stage, "web", labels.capacityType)).toEqual(["on-demand"]);
    },
  },
  {
    title: "02:O-6 an overlay tells of a device, and pods that need it get it",
    settings,
    play: async (stage) => {
      await stage.apply(
        kwokClass,
        overlay("fpga", { requirements: big, capacity: { "example.com/fpga": "2" } }),
        pool(),
      );
      await stage.until("it is valid", says(stage, judged("fpga")));
      const amounts = { cpu: "1", memory: "1Gi", "example.com/fpga": "1" };
      const container = { resources: { requests: amounts, limits: { "example.com/fpga": "1" } } };
      await stage.apply(deployment("sim", { replicas: 2, container }));
      await stage.until("both run", running(stage, "sim", 2));
      const { metadata, status } = await theNode(stage);
      expect(metadata.labels?.[labels.instanceType]).toBe("m-64x-amd64-linux");
      expect(status?.allocatable?.["example.com/fpga"]).toBe("2");
      await stage.until("one node", settled(stage, 1));
    },
  },
  {
    title: "02:O-7 of two overlays that contradict each other one says so, and is not used",
    settings,
    play: async (stage) => {
      await stage.apply(kwokClass, pool());
      await stage.apply(
        overlay("a", { requirements: big, price: "9" }),
        overlay("b", { requirements: big, price: "0.0001" }),
      );
      await stage.until("one is in the way", says(stage, { ...judged("a"), is: "False", reason: "Conflict" }));
      await stage.until("the other is not", says(stage, judged("b")));
      await stage.apply(deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      expect(await whereRuns(stage, "web", labels.instanceType)).toEqual(["m-64x-amd64-linux"]);
    },
  },
  {
    title: "02:O-3 the overlay of higher weight counts, and when it goes the other does",
    settings,
    play: async (stage) => {
      const strong = overlay("strong", { requirements: big, price: "9", weight: 100 });
      await stage.apply(kwokClass, strong, overlay("weak", { requirements: big, price: "0.0001", weight: 1 }), pool());
      for (const name of ["strong", "weak"]) await stage.until(`${name} is valid`, says(stage, judged(name)));
      await stage.apply(deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      expect(await whereRuns(stage, "web", labels.instanceType)).toEqual(["c-2x-amd64-linux"]);
      await stage.remove(karpenterTypes.NodeOverlay, "strong");
      await stage.apply(deployment("more", { cpu: "2" }));
      await stage.until("more runs", running(stage, "more", 1));
      expect(await whereRuns(stage, "more", labels.instanceType)).toEqual(["m-64x-amd64-linux"]);
    },
  },
  {
    title: "03 §6.4 without the gate an overlay changes nothing",
    play: async (stage) => {
      await stage.apply(kwokClass, overlay("discount", { requirements: big, price: "0.0001" }), pool(), barePod("web"));
      await stage.until("it runs", running(stage, "web", 1));
      expect(await whereRuns(stage, "web", labels.instanceType)).toEqual(["c-2x-amd64-linux"]);
      expect(isTrue((await stage.get(karpenterTypes.NodeOverlay, "discount")) ?? {}, "ValidationSucceeded")).toBe(
        false,
      );
      expect(await told(stage, { about: nameOf(await theClaim(stage)), reason: "InsufficientCapacityError" })()).toBe(
        false,
      );
    },
  },
];
