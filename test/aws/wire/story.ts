import { expect } from "vitest";
import { getCondition } from "../../../src/api/conditions/set-condition.ts";
import type { Ec2NodeClass } from "../../../src/api/kinds/ec2-node-class.ts";
import type { NodeClaim } from "../../../src/api/kinds/node-claim.ts";
import type { Node } from "../../../src/api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../../src/api/kubernetes/pod.ts";
import { labels } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { builtInTypes, karpenterTypes } from "../../../src/kube/resources.ts";
import { eventually } from "../../cluster/eventually.ts";
import { typeFor } from "../../world/api-world.ts";
import { putEvent } from "./moto-account.ts";
import type { WireWorld } from "./wire-world.ts";

export type Claim = KubeObject & NodeClaim;

const patienceMs = 90_000;
/** The two releases of the image of each family, by the version their alias has. */
const imageReleases = {
  al2: ["v20260101", "v20260201"],
  al2023: ["v20260101", "v20260201"],
  bottlerocket: ["1.50.0", "1.51.0"],
} as const;
export type StoryFamily = keyof typeof imageReleases;

/** The images of each architecture and kind, as their ids end. */
const imageKinds = { x86_64: "1", arm64: "2", gpu: "3" } as const;

/** What SSM says of an image of a family. */
function parameterPath(family: StoryFamily, kind: keyof typeof imageKinds, [k8s, version]: readonly [string, string]) {
  const optimized = `/aws/service/eks/optimized-ami/${k8s}`;
  const isLatest = version === "latest";
  switch (family) {
    case "al2": {
      const [folder, name] = { x86_64: ["", ""], arm64: ["-arm64", "-arm64"], gpu: ["-gpu", "-gpu"] }[kind];
      const release = isLatest ? "recommended" : `amazon-eks${name}-node-${k8s}-${version}`;
      return `${optimized}/amazon-linux-2${folder}/${release}/image_id`;
    }
    case "al2023": {
      const [arch, variant] = kind === "gpu" ? ["x86_64", "nvidia"] : [kind, "standard"];
      const release = isLatest ? "recommended" : `amazon-eks-node-al2023-${arch}-${variant}-${k8s}-${version}`;
      return `${optimized}/amazon-linux-2023/${arch}/${variant}/${release}/image_id`;
    }
    case "bottlerocket": {
      const [suffix, arch] = kind === "gpu" ? ["-nvidia", "x86_64"] : ["", kind];
      return `/aws/service/bottlerocket/aws-k8s-${k8s}${suffix}/${arch}/${version}/image_id`;
    }
  }
}

/** What SSM says of the two releases of a family's image; the first is the latest for now. */
export function publishImages(
  { account: { shim, kubernetesVersion } }: Pick<WireWorld, "account">,
  family: StoryFamily = "al2023",
): void {
  const [first, second] = imageReleases[family];
  for (const [version, prefix] of [
    ["latest", "ami-0a"],
    [first, "ami-0a"],
    [second, "ami-0b"],
  ] as const) {
    for (const [kind, last] of Object.entries(imageKinds)) {
      const path = parameterPath(family, kind as keyof typeof imageKinds, [kubernetesVersion, version]);
      shim.tables.parameters.set(path, `${prefix}0000000000000${last}`);
    }
  }
}

/** Prices at which m5.large is the cheapest, spot before on demand. */
export function publishPrices({ account: { shim } }: Pick<WireWorld, "account">): void {
  const prices = {
    "m5.large": 0.096,
    "c5.large": 0.11,
    "r5.large": 0.126,
    "m5.xlarge": 0.192,
    "m5.metal": 4.6,
    "p3.2xlarge": 3.06,
  };
  for (const [type, price] of Object.entries(prices)) {
    shim.tables.onDemandPrices.set(type, price);
    for (const zone of ["a", "b", "c", "d"]) shim.tables.spotPrices.set(`${type} us-west-2${zone}`, price / 3);
  }
}

export const userDataMarker = "user-data-that-nobody-may-log";

export function nodeClass(cluster: string, spec: object = {}): KubeObject {
  const discovered = [{ tags: { "karpenter.sh/discovery": cluster } }];
  return {
    apiVersion: "karpenter.k8s.aws/v1",
    kind: "EC2NodeClass",
    metadata: { name: "default" },
    spec: {
      amiSelectorTerms: [{ alias: `al2023@${imageReleases.al2023[0]}` }],
      role: `KarpenterNodeRole-${cluster}`,
      subnetSelectorTerms: discovered,
      securityGroupSelectorTerms: discovered,
      userData: `#!/bin/bash\necho ${userDataMarker}`,
      tags: { team: "wire" },
      ...spec,
    },
  };
}

export const pool = {
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name: "default" },
  spec: {
    template: {
      spec: {
        nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
        requirements: [
          { key: labels.instanceType, operator: "In", values: ["m5.large", "c5.large", "r5.large"] },
          { key: labels.capacityType, operator: "In", values: ["spot", "on-demand"] },
        ],
        expireAfter: "Never",
      },
    },
    disruption: { consolidateAfter: "Never", budgets: [{ nodes: "100%" }] },
  },
};

/** Pods of which only one has room on a node; more of the pod's spec may say where it goes. */
export function deployment(replicas: number, name = "web", podSpec: object = {}, limits: object = {}): KubeObject {
  const app = { app: name };
  const resources = { requests: { cpu: "1200m", memory: "512Mi", ...limits }, limits };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "default" },
    spec: {
      replicas,
      selector: { matchLabels: app },
      template: { metadata: { labels: app }, spec: { containers: [{ name, image: name, resources }], ...podSpec } },
    },
  };
}

async function claimsOf({ client }: WireWorld): Promise<readonly Claim[]> {
  return (await client.list<Claim>(karpenterTypes.NodeClaim)).items;
}

function isTrue(object: KubeObject, type: string): boolean {
  return getCondition(object as never, type)?.status === "True";
}

/** Waits; on failure says how the cluster looks and what the controller last logged. */
async function waitFor<T>(world: WireWorld, what: string, probe: () => Promise<T | undefined>): Promise<T> {
  try {
    return await eventually(what, probe, { timeoutMs: patienceMs, everyMs: 100 });
  } catch (error) {
    const claims = (await claimsOf(world)).map(({ metadata, status }) => ({ name: metadata.name, status }));
    const classes = (await world.client.list(karpenterTypes.EC2NodeClass)).items.map(({ status }) => status);
    const log = (await world.readable())
      .split("\n")
      .filter((line) => line.startsWith('{"level"'))
      .slice(-25);
    const { items } = await world.client.list<KubeObject & Node>(builtInTypes.Node);
    const nodes = items.map(({ metadata, spec }) => [metadata.name, spec?.providerID]);
    const machines = world.instances.list().map(({ nodeName, providerId }) => [nodeName, providerId]);
    throw new Error(`${what}\n${JSON.stringify({ nodes, machines, claims, classes })}\n${log.join("\n")}`, {
      cause: error,
    });
  }
}

export async function untilReady(world: WireWorld): Promise<void> {
  await waitFor(world, "the classes are ready", async () => {
    const { items } = await world.client.list<KubeObject & Ec2NodeClass>(karpenterTypes.EC2NodeClass);
    return items.length > 0 && items.every((one) => isTrue(one as KubeObject, "Ready")) ? true : undefined;
  });
}

/** As many pods run, each on an initialized node with an instance, and there is no instance besides. */
export async function untilRunning(world: WireWorld, count: number): Promise<readonly Claim[]> {
  return waitFor(world, `${count} pods run, and as many instances`, async () => {
    const pods = (await world.client.list<KubeObject & Pod>(builtInTypes.Pod)).items.filter(
      ({ status, metadata }) => status?.phase === "Running" && metadata.deletionTimestamp === undefined,
    );
    const claims = await claimsOf(world);
    const settled = claims.filter(
      (claim) => isTrue(claim, "Initialized") && claim.metadata.deletionTimestamp === undefined,
    );
    const instances = await world.instances.running();
    const isDone = [pods.length, settled.length, claims.length, instances.length].every((length) => length === count);
    return isDone ? claims : undefined;
  });
}

export async function untilReplaced(world: WireWorld, gone: readonly Claim[]): Promise<void> {
  const names = new Set(gone.map(({ metadata }) => metadata.name));
  await waitFor(world, "the claims are replaced", async () =>
    (await claimsOf(world)).some(({ metadata }) => names.has(metadata.name)) ? undefined : true,
  );
}

/** A claim says why it has drifted. */
export async function untilDrifted(world: WireWorld, reason: string): Promise<void> {
  await waitFor(world, `a claim has drifted: ${reason}`, async () => {
    const reasons = (await claimsOf(world)).map((claim) => getCondition(claim as never, "Drifted")?.reason);
    return reasons.includes(reason) ? true : undefined;
  });
}

/** Changes the class of the story. */
export async function changeClass({ client }: WireWorld, spec: object): Promise<void> {
  const patch = { kind: "merge", body: { spec } } as const;
  await client.patch(karpenterTypes.EC2NodeClass, { name: "default" }, patch);
}

/** The tags an instance has once its node joined. (04 §1.11) */
export async function untilTagged(world: WireWorld, more: Readonly<Record<string, string>> = {}): Promise<void> {
  await waitFor(world, "instances have their tags", async () => {
    const claims = await claimsOf(world);
    const instances = await world.instances.running();
    for (const { InstanceId = "", Tags = [] } of instances) {
      const tags = Object.fromEntries(Tags.map(({ Key = "", Value }) => [Key, Value]));
      const claim = claims.find(({ status }) => status?.providerID?.endsWith(InstanceId));
      expect(tags).toMatchObject({
        [`kubernetes.io/cluster/${world.account.cluster}`]: "owned",
        "eks:eks-cluster-name": world.account.cluster,
        "karpenter.sh/nodepool": claim?.metadata.labels?.[labels.nodePool],
        "karpenter.k8s.aws/ec2nodeclass": claim?.spec.nodeClassRef.name,
        "karpenter.sh/nodeclaim": claim?.metadata.name,
        Name: claim?.status?.nodeName,
        ...more,
      });
    }
    return true;
  });
}

/** All classes use the second release of their image. */
export async function releaseImages({ client }: WireWorld): Promise<void> {
  const { items } = await client.list<KubeObject & Ec2NodeClass>(karpenterTypes.EC2NodeClass);
  for (const { metadata, spec } of items) {
    const [family = ""] = spec?.amiSelectorTerms[0]?.alias?.split("@") ?? [];
    const alias = `${family}@${imageReleases[family as StoryFamily][1]}`;
    const patch = { kind: "merge", body: { spec: { amiSelectorTerms: [{ alias }] } } } as const;
    await client.patch(karpenterTypes.EC2NodeClass, { name: metadata.name ?? "" }, patch);
  }
}

const deploymentType = typeFor(deployment(0));

export async function scale({ client }: WireWorld, replicas: number, name = "web"): Promise<void> {
  const patch = { kind: "merge", body: { spec: { replicas } } } as const;
  await client.patch(deploymentType, { name, namespace: "default" }, patch);
}

/** EC2 warns of the end of a spot instance, and ends it two minutes later. */
export async function interruptSpot({ account }: WireWorld, claim: Claim): Promise<string> {
  const id = claim.status?.providerID?.split("/").at(-1) ?? "";
  const { motoUrl: url, region } = account;
  const detailType = "EC2 Spot Instance Interruption Warning";
  const detail = { "instance-id": id, "instance-action": "terminate" };
  await putEvent({ url, region }, { source: "aws.ec2", detailType, detail });
  return id;
}

/** Everything of ours goes, and moto has nothing left of it: profiles that Karpenter made are below its own path. */
export async function deleteAll(world: WireWorld): Promise<void> {
  const { client, account } = world;
  for (const type of [deploymentType, karpenterTypes.NodePool, karpenterTypes.EC2NodeClass]) {
    for (const { metadata } of (await client.list(type)).items) {
      const { name = "", namespace } = metadata;
      await client.delete(type, { name, ...(namespace !== undefined && { namespace }) });
    }
  }
  await waitFor(world, "claims and classes are gone", async () => {
    const classes = (await client.list(karpenterTypes.EC2NodeClass)).items;
    return classes.length + (await claimsOf(world)).length === 0 ? true : undefined;
  });
  await waitFor(world, "nothing is left in the account", async () => {
    const instances = await world.instances.running();
    const templates = await account.api.ec2.describeLaunchTemplates({});
    const listed = await account.api.iam.listInstanceProfiles({}); // moto ignores the path
    const profiles = listed.filter(({ Path = "" }) => Path.startsWith("/karpenter/"));
    expect({ instances: instances.length, templates: templates.length, profiles: profiles.length }).toEqual({
      instances: 0,
      templates: 0,
      profiles: 0,
    });
    return true;
  });
}
