import { expect } from "vitest";
import { getCondition } from "../../../src/api/conditions/set-condition.ts";
import type { Ec2NodeClass } from "../../../src/api/kinds/ec2-node-class.ts";
import type { NodeClaim } from "../../../src/api/kinds/node-claim.ts";
import type { Pod } from "../../../src/api/kubernetes/pod.ts";
import { labels } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { builtInTypes, karpenterTypes } from "../../../src/kube/resources.ts";
import { eventually } from "../../cluster/eventually.ts";
import { typeFor } from "../../world/api-world.ts";
import { putEvent } from "./moto-account.ts";
import type { WireWorld } from "./wire-world.ts";

type Claim = KubeObject & NodeClaim;

const patienceMs = 90_000;
const alias = (version: string): string => `al2023@${version}`;

/** What SSM says of the two releases of the image. */
export function publishImages({ account: { shim } }: Pick<WireWorld, "account">): void {
  for (const [version, prefix] of [
    ["v20260101", "ami-0a"],
    ["v20260201", "ami-0b"],
  ] as const) {
    for (const [arch, last] of [
      ["x86_64", "1"],
      ["arm64", "2"],
    ] as const) {
      const name = `amazon-eks-node-al2023-${arch}-standard-1.33-${version}`;
      const path = `/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/${arch}/standard/${name}/image_id`;
      shim.tables.parameters.set(path, `${prefix}0000000000000${last}`);
    }
  }
}

/** Prices at which m5.large is the cheapest, spot before on demand. */
export function publishPrices({ account: { shim } }: Pick<WireWorld, "account">): void {
  const prices = { "m5.large": 0.096, "c5.large": 0.11, "r5.large": 0.126, "m5.xlarge": 0.192, "m5.metal": 4.6 };
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
      amiSelectorTerms: [{ alias: alias("v20260101") }],
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

export function deployment(replicas: number): KubeObject {
  const app = { app: "web" };
  const requests = { cpu: "1200m", memory: "512Mi" }; // one on each node
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: {
      replicas,
      selector: { matchLabels: app },
      template: {
        metadata: { labels: app },
        spec: { containers: [{ name: "web", image: "web", resources: { requests } }] },
      },
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
    throw new Error(`${what}\n${JSON.stringify({ claims, classes })}\n${log.join("\n")}`, { cause: error });
  }
}

export async function untilReady(world: WireWorld): Promise<void> {
  await waitFor(world, "the class is ready", async () => {
    const [found] = (await world.client.list<KubeObject & Ec2NodeClass>(karpenterTypes.EC2NodeClass)).items;
    return found !== undefined && isTrue(found as KubeObject, "Ready") ? true : undefined;
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

/** The tags an instance has once its node joined. (04 §1.11) */
export async function untilTagged(world: WireWorld): Promise<void> {
  await waitFor(world, "instances have their tags", async () => {
    const claims = await claimsOf(world);
    const instances = await world.instances.running();
    for (const { InstanceId = "", Tags = [] } of instances) {
      const tags = Object.fromEntries(Tags.map(({ Key = "", Value }) => [Key, Value]));
      const claim = claims.find(({ status }) => status?.providerID?.endsWith(InstanceId));
      expect(tags).toMatchObject({
        [`kubernetes.io/cluster/${world.account.cluster}`]: "owned",
        "eks:eks-cluster-name": world.account.cluster,
        "karpenter.sh/nodepool": "default",
        "karpenter.k8s.aws/ec2nodeclass": "default",
        "karpenter.sh/nodeclaim": claim?.metadata.name,
        Name: claim?.status?.nodeName,
        team: "wire",
      });
    }
    return true;
  });
}

export async function changeImage({ client }: WireWorld, version: string): Promise<void> {
  const body = { spec: { amiSelectorTerms: [{ alias: alias(version) }] } };
  await client.patch(karpenterTypes.EC2NodeClass, { name: "default" }, { kind: "merge", body });
}

export async function scale({ client }: WireWorld, replicas: number): Promise<void> {
  const type = typeFor(deployment(0));
  await client.patch(type, { name: "web", namespace: "default" }, { kind: "merge", body: { spec: { replicas } } });
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

/** Everything of ours goes, and moto has nothing left of it. */
export async function deleteAll(world: WireWorld): Promise<void> {
  const { client, account } = world;
  await client.delete(typeFor(deployment(0)), { name: "web", namespace: "default" });
  await client.delete(karpenterTypes.NodePool, { name: "default" });
  await client.delete(karpenterTypes.EC2NodeClass, { name: "default" });
  await waitFor(world, "claims and class are gone", async () => {
    const classes = (await client.list(karpenterTypes.EC2NodeClass)).items;
    return classes.length + (await claimsOf(world)).length === 0 ? true : undefined;
  });
  await waitFor(world, "nothing is left in the account", async () => {
    const instances = await world.instances.running();
    const templates = await account.api.ec2.describeLaunchTemplates({});
    const profiles = await account.api.iam.listInstanceProfiles({});
    expect({ instances: instances.length, templates: templates.length, profiles: profiles.length }).toEqual({
      instances: 0,
      templates: 0,
      profiles: 0,
    });
    return true;
  });
}
