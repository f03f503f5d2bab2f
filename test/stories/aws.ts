import { expect } from "vitest";
import { awsLabels, labels } from "../../src/api/labels.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import {
  claimsOf,
  gone,
  isTrue,
  nameOf,
  nothingLeft,
  running,
  says,
  settled,
  theClaim,
  theNode,
  told,
  whereRuns,
} from "./facts.ts";
import { isIn, kwokClass, type PoolOptions, pool } from "./manifests.ts";
import type { Story } from "./story.ts";
import { deployment } from "./workloads.ts";

const tags = { "karpenter.sh/discovery": "story" };

function ec2Class(spec: object = {}) {
  return {
    apiVersion: "karpenter.k8s.aws/v1",
    kind: "EC2NodeClass",
    metadata: { name: "default" },
    spec: {
      role: "KarpenterNodeRole-story",
      amiSelectorTerms: [{ alias: "al2023@latest" }],
      subnetSelectorTerms: [{ tags }],
      securityGroupSelectorTerms: [{ tags }],
      ...spec,
    },
  };
}

const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
const ec2Pool = ({ template, ...options }: PoolOptions = {}) =>
  pool({ name: "ec2", template: { nodeClassRef, ...template }, ...options });

const small = [isIn(awsLabels.instanceCategory, "c", "m", "r")];

export const aws: readonly Story[] = [
  {
    title: "04 §1 a pool written for AWS gets EC2 machines, as a real account would",
    isSmoke: true,
    play: async (stage) => {
      const onDemand = [...small, isIn(labels.capacityType, "on-demand")];
      await stage.apply(ec2Class(), ec2Pool({ requirements: onDemand }), deployment("web", { replicas: 2 }));
      await stage.until("both run", running(stage, "web", 2));
      const { metadata, spec } = await theNode(stage);
      expect(spec?.providerID).toMatch(/^aws:\/\/\/[a-z]+-[a-z]+-\d[a-z]\/i-[0-9a-f]{17}$/);
      expect(metadata.name).toMatch(/^ip-10-\d+-\d+-\d+\./);
      expect(metadata.labels).toMatchObject({
        [labels.capacityType]: "on-demand",
        [labels.nodePool]: "ec2",
        [awsLabels.nodeClass]: "default",
      });
      expect(["c", "m", "r"]).toContain(metadata.labels?.[awsLabels.instanceCategory]);
      expect((await theClaim(stage)).status?.imageID).toMatch(/^ami-/);
    },
  },
  {
    title: "04 §2 a pod that needs a GPU gets a machine that has one",
    play: async (stage) => {
      const gpu = { "nvidia.com/gpu": "1" };
      const container = { resources: { requests: { cpu: "1", memory: "1Gi", ...gpu }, limits: gpu } };
      await stage.apply(ec2Class(), ec2Pool(), deployment("train", { container }));
      await stage.until("it runs", running(stage, "train", 1));
      const { metadata, status } = await theNode(stage);
      expect(Number(metadata.labels?.[awsLabels.instanceGpuCount])).toBeGreaterThanOrEqual(1);
      expect(metadata.labels?.[awsLabels.instanceGpuManufacturer]).toBe("nvidia");
      expect(Number(status?.allocatable?.["nvidia.com/gpu"])).toBeGreaterThanOrEqual(1);
    },
  },
  {
    title: "04 §2 a pod for arm64 gets a Graviton machine",
    play: async (stage) => {
      const { template, ...more } = ec2Pool().spec;
      const requirements = [isIn(labels.arch, "amd64", "arm64"), isIn(labels.os, "linux"), ...small];
      const open = {
        ...ec2Pool(),
        spec: { ...more, template: { ...template, spec: { ...template.spec, requirements } } },
      };
      await stage.apply(ec2Class(), open, deployment("web", { pod: { nodeSelector: { [labels.arch]: "arm64" } } }));
      await stage.until("it runs", running(stage, "web", 1));
      expect((await theNode(stage)).metadata.labels).toMatchObject({
        [labels.arch]: "arm64",
        [awsLabels.instanceCpuManufacturer]: "aws",
      });
    },
  },
  {
    title: "04 §1.4 a class whose subnets nobody knows says so, and its pool waits",
    play: async (stage) => {
      const lost = ec2Class({ subnetSelectorTerms: [{ id: "subnet-0123456789abcdef0" }] });
      await stage.apply(lost, ec2Pool({ requirements: small }), deployment("web"));
      const asked = {
        type: karpenterTypes.EC2NodeClass,
        name: "default",
        condition: "SubnetsReady",
        is: "False",
      } as const;
      await stage.until("it says so", says(stage, { ...asked, reason: "SubnetsNotFound" }));
      await stage.until(
        "the pool says so",
        says(stage, { type: karpenterTypes.NodePool, name: "ec2", condition: "NodeClassReady", is: "False" }),
      );
      expect(await claimsOf(stage)).toEqual([]);
      await stage.apply(ec2Class());
      await stage.until("it runs", running(stage, "web", 1));
    },
  },
  {
    title: "04 §1.14 a class in use stays until its claims are gone",
    play: async (stage) => {
      await stage.apply(ec2Class(), ec2Pool({ requirements: small }), deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      await stage.remove(karpenterTypes.EC2NodeClass, "default");
      await stage.pass(5);
      expect((await stage.get(karpenterTypes.EC2NodeClass, "default"))?.metadata.deletionTimestamp).toBeDefined();
      await stage.scale("web", 0);
      await stage.remove(karpenterTypes.NodePool, "ec2");
      await stage.until("all is given back", nothingLeft(stage));
      await stage.until("it goes", gone(stage, karpenterTypes.EC2NodeClass, "default"), 60);
    },
  },
  {
    title: "04 §1.13 03:M-7 a class that changed marks the claims made from it",
    play: async (stage) => {
      await stage.apply(ec2Class(), ec2Pool({ requirements: small }), deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      const name = nameOf(await theClaim(stage));
      await stage.apply(ec2Class({ tags: { team: "blue" } }));
      await stage.until(
        "it is marked",
        says(stage, { type: karpenterTypes.NodeClaim, name, condition: "Drifted", reason: "NodeClassDrift" }),
      );
      await stage.until("nothing else happens", settled(stage, 1));
    },
  },
  {
    title: "04 §4.2 03:I-2 a spot machine that is taken back is replaced by another offering",
    play: async (stage) => {
      const requirements = [...small, isIn(labels.capacityType, "spot")];
      await stage.apply(ec2Class(), ec2Pool({ requirements }), deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      const node = await theNode(stage);
      const offering = ({ metadata }: typeof node) => [
        metadata.labels?.[labels.instanceType],
        metadata.labels?.[labels.zone],
      ];
      stage.cloud.interrupt(node.spec?.providerID ?? "");
      await stage.until("it is told", told(stage, { about: nameOf(node), reason: "SpotInterrupted" }));
      await stage.until("its node goes", gone(stage, builtInTypes.Node, nameOf(node)));
      await stage.until("it runs again", running(stage, "web", 1));
      expect(offering(await theNode(stage))).not.toEqual(offering(node));
    },
  },
  {
    title: "04 §2 types that have ended are sold here all the same, and marked",
    play: async (stage) => {
      await stage.apply(ec2Class(), ec2Pool({ requirements: [isIn(labels.instanceType, "p3.2xlarge")] }));
      await stage.apply(deployment("old"));
      await stage.until("it runs", running(stage, "old", 1));
      const { metadata } = await theNode(stage);
      expect(metadata.labels?.[labels.instanceType]).toBe("p3.2xlarge");
      expect(metadata.annotations?.["sim.karpenter.sh/retired-type"]).toBe("true");
    },
  },
  {
    title: "02 §9 pools of both kinds sell side by side",
    play: async (stage) => {
      await stage.apply(ec2Class(), kwokClass, ec2Pool({ requirements: small }), pool());
      const pinnedTo = (name: string) => ({ pod: { nodeSelector: { [labels.nodePool]: name } } });
      await stage.apply(deployment("one", pinnedTo("ec2")), deployment("two", pinnedTo("default")));
      await stage.until("one runs", running(stage, "one", 1));
      await stage.until("two runs", running(stage, "two", 1));
      expect(await whereRuns(stage, "two", labels.instanceType)).toEqual(["c-2x-amd64-linux"]);
      expect(await whereRuns(stage, "one", awsLabels.nodeClass)).toEqual(["default"]);
      expect((await claimsOf(stage)).every((claim) => isTrue(claim, "Initialized"))).toBe(true);
    },
  },
];
