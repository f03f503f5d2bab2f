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
    run: async (cluster) => {
      const onDemand = [...small, isIn(labels.capacityType, "on-demand")];
      await cluster.apply(ec2Class(), ec2Pool({ requirements: onDemand }), deployment("web", { replicas: 2 }));
      await cluster.until("both run", running(cluster, "web", 2));
      const { metadata, spec } = await theNode(cluster);
      expect(spec?.providerID).toMatch(/^aws:\/\/\/[a-z]+-[a-z]+-\d[a-z]\/i-[0-9a-f]{17}$/);
      expect(metadata.name).toMatch(/^ip-10-\d+-\d+-\d+\./);
      expect(metadata.labels).toMatchObject({
        [labels.capacityType]: "on-demand",
        [labels.nodePool]: "ec2",
        [awsLabels.nodeClass]: "default",
      });
      expect(["c", "m", "r"]).toContain(metadata.labels?.[awsLabels.instanceCategory]);
      expect((await theClaim(cluster)).status?.imageID).toMatch(/^ami-/);
    },
  },
  {
    title: "04 §2 a pod that needs a GPU gets a machine that has one",
    run: async (cluster) => {
      const gpu = { "nvidia.com/gpu": "1" };
      const container = { resources: { requests: { cpu: "1", memory: "1Gi", ...gpu }, limits: gpu } };
      await cluster.apply(ec2Class(), ec2Pool(), deployment("train", { container }));
      await cluster.until("it runs", running(cluster, "train", 1));
      const { metadata, status } = await theNode(cluster);
      expect(Number(metadata.labels?.[awsLabels.instanceGpuCount])).toBeGreaterThanOrEqual(1);
      expect(metadata.labels?.[awsLabels.instanceGpuManufacturer]).toBe("nvidia");
      expect(Number(status?.allocatable?.["nvidia.com/gpu"])).toBeGreaterThanOrEqual(1);
    },
  },
  {
    title: "04 §2 a pod for arm64 gets a Graviton machine",
    run: async (cluster) => {
      const { template, ...more } = ec2Pool().spec;
      const requirements = [isIn(labels.arch, "amd64", "arm64"), isIn(labels.os, "linux"), ...small];
      const open = {
        ...ec2Pool(),
        spec: { ...more, template: { ...template, spec: { ...template.spec, requirements } } },
      };
      await cluster.apply(ec2Class(), open, deployment("web", { pod: { nodeSelector: { [labels.arch]: "arm64" } } }));
      await cluster.until("it runs", running(cluster, "web", 1));
      expect((await theNode(cluster)).metadata.labels).toMatchObject({
        [labels.arch]: "arm64",
        [awsLabels.instanceCpuManufacturer]: "aws",
      });
    },
  },
  {
    title: "04 §1.4 a class whose subnets nobody knows says so, and its pool waits",
    run: async (cluster) => {
      const lost = ec2Class({ subnetSelectorTerms: [{ id: "subnet-0123456789abcdef0" }] });
      await cluster.apply(lost, ec2Pool({ requirements: small }), deployment("web"));
      const asked = {
        type: karpenterTypes.EC2NodeClass,
        name: "default",
        condition: "SubnetsReady",
        is: "False",
      } as const;
      await cluster.until("it says so", says(cluster, { ...asked, reason: "SubnetsNotFound" }));
      await cluster.until(
        "the pool says so",
        says(cluster, { type: karpenterTypes.NodePool, name: "ec2", condition: "NodeClassReady", is: "False" }),
      );
      expect(await claimsOf(cluster)).toEqual([]);
      await cluster.apply(ec2Class());
      await cluster.until("it runs", running(cluster, "web", 1));
    },
  },
  {
    title: "04 §1.14 a class in use stays until its claims are gone",
    run: async (cluster) => {
      await cluster.apply(ec2Class(), ec2Pool({ requirements: small }), deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      await cluster.remove(karpenterTypes.EC2NodeClass, "default");
      await cluster.pass(5);
      expect((await cluster.get(karpenterTypes.EC2NodeClass, "default"))?.metadata.deletionTimestamp).toBeDefined();
      await cluster.scale("web", 0);
      await cluster.remove(karpenterTypes.NodePool, "ec2");
      await cluster.until("all is given back", nothingLeft(cluster));
      await cluster.until("it goes", gone(cluster, karpenterTypes.EC2NodeClass, "default"), 60);
    },
  },
  {
    title: "04 §1.13 03:M-7 a class that changed marks the claims made from it",
    run: async (cluster) => {
      await cluster.apply(ec2Class(), ec2Pool({ requirements: small }), deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      const name = nameOf(await theClaim(cluster));
      await cluster.apply(ec2Class({ tags: { team: "blue" } }));
      await cluster.until(
        "it is marked",
        says(cluster, { type: karpenterTypes.NodeClaim, name, condition: "Drifted", reason: "NodeClassDrift" }),
      );
      await cluster.until("nothing else happens", settled(cluster, 1));
    },
  },
  {
    title: "04 §4.2 03:I-2 a spot machine that is taken back is replaced by another offering",
    run: async (cluster) => {
      const requirements = [...small, isIn(labels.capacityType, "spot")];
      await cluster.apply(ec2Class(), ec2Pool({ requirements }), deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      const node = await theNode(cluster);
      const offering = ({ metadata }: typeof node) => [
        metadata.labels?.[labels.instanceType],
        metadata.labels?.[labels.zone],
      ];
      cluster.cloud.interrupt(node.spec?.providerID ?? "");
      await cluster.until("it is told", told(cluster, { about: nameOf(node), reason: "SpotInterrupted" }));
      await cluster.until("its node goes", gone(cluster, builtInTypes.Node, nameOf(node)));
      await cluster.until("it runs again", running(cluster, "web", 1));
      expect(offering(await theNode(cluster))).not.toEqual(offering(node));
    },
  },
  {
    title: "04 §2 types that have ended are sold here all the same, and marked",
    run: async (cluster) => {
      await cluster.apply(ec2Class(), ec2Pool({ requirements: [isIn(labels.instanceType, "p3.2xlarge")] }));
      await cluster.apply(deployment("old"));
      await cluster.until("it runs", running(cluster, "old", 1));
      const { metadata } = await theNode(cluster);
      expect(metadata.labels?.[labels.instanceType]).toBe("p3.2xlarge");
      expect(metadata.annotations?.["sim.karpenter.sh/retired-type"]).toBe("true");
    },
  },
  {
    title: "02 §9 pools of both kinds sell side by side",
    run: async (cluster) => {
      await cluster.apply(ec2Class(), kwokClass, ec2Pool({ requirements: small }), pool());
      const pinnedTo = (name: string) => ({ pod: { nodeSelector: { [labels.nodePool]: name } } });
      await cluster.apply(deployment("one", pinnedTo("ec2")), deployment("two", pinnedTo("default")));
      await cluster.until("one runs", running(cluster, "one", 1));
      await cluster.until("two runs", running(cluster, "two", 1));
      expect(await whereRuns(cluster, "two", labels.instanceType)).toEqual(["c-2x-amd64-linux"]);
      expect(await whereRuns(cluster, "one", awsLabels.nodeClass)).toEqual(["default"]);
      const areInitialized = async () => (await claimsOf(cluster)).every((claim) => isTrue(claim, "Initialized"));
      await cluster.until("both are initialized", areInitialized, 15);
    },
  },
];
