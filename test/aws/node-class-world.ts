import { getCondition } from "../../src/api/conditions/set-condition.ts";
import { karpenterTypes } from "../../src/kube/resources.ts";
import { type AwsSettings, defaultAwsSettings } from "../../src/providers/aws/aws-settings.ts";
import { ec2InstanceTypes } from "../../src/providers/aws/catalogue.ts";
import { instanceVariablesOf } from "../../src/providers/aws/evaluated-kubelet.ts";
import { ec2InstanceTypeInfos } from "../../src/providers/aws/instance-type-info.ts";
import { tagList } from "../../src/providers/aws/launch/launch-tags.ts";
import type { LaunchTemplateStore } from "../../src/providers/aws/node-class/dry-runs.ts";
import type { Ec2NodeClassObject, Ec2NodeClassSpec } from "../../src/providers/aws/node-class/node-class-object.ts";
import { nodeClassControllers, nodeClassServices } from "../../src/providers/aws/node-class/node-class-services.ts";
import { nodeSettingsOf } from "../../src/providers/aws/node-class-settings.ts";
import { defaultNodeSettings } from "../../src/providers/aws/node-settings.ts";
import { type LogLine, recordingLog } from "../world/recording-log.ts";
import { testWorld } from "../world/test-world.ts";
import { type FakeAws, populatedAws } from "./fake-aws.ts";

export interface NodeClassWorldOptions {
  readonly settings?: Partial<AwsSettings>;
  readonly kubernetesVersion?: string;
  readonly usesReservations?: boolean;
  /** Fills the account before anything runs. */
  readonly account?: (aws: FakeAws) => void;
}

/** The controllers of EC2NodeClasses over the fake account. */
export async function nodeClassWorld(options: NodeClassWorldOptions = {}) {
  const { kubernetesVersion = "1.33", usesReservations = true } = options;
  const world = await testWorld({ seed: "node-class" });
  const { clock, random } = world;
  const settings = { ...defaultAwsSettings, clusterName: "demo", ...options.settings };
  const aws = populatedAws({ clock, types: (name) => /^(m5|m6g|g4dn|inf1)\./.test(name) });
  options.account?.(aws);
  const { api } = aws;
  const lines: LogLine[] = [];
  const log = recordingLog(lines);
  const start = (name: string) => {
    const services = nodeClassServices({
      api,
      clock,
      random: random.fork(name),
      log,
      settings,
      kubernetesVersion: () => kubernetesVersion,
    });
    const controllers = nodeClassControllers({
      api,
      clock,
      settings,
      services,
      launchTemplates: plainTemplates(aws),
      instanceTypes: async (nodeClass) => typesOf(nodeClass),
      instanceVariables: (nodeClass) =>
        ec2InstanceTypeInfos().map((info) =>
          instanceVariablesOf(info, { ...defaultNodeSettings, ...nodeSettingsOf(nodeClass) }),
        ),
      target: () => ({
        region: aws.region,
        cluster: {
          name: "demo",
          endpoint: "https://cluster.invalid",
          caBundle: "Y2E=",
          cidr: services.clusterCidr.known,
        },
      }),
      usesReservations,
    });
    return { services, running: world.startControllers({ name, controllers }) };
  };
  const { services, running } = start("aws");
  await world.pass(0);
  const read = async (name = "web"): Promise<Ec2NodeClassObject> => {
    const found = await world.get<Ec2NodeClassObject>(karpenterTypes.EC2NodeClass, name);
    if (found === undefined) throw new Error(`no EC2NodeClass ${name}`);
    return found;
  };
  return {
    ...world,
    aws,
    lines,
    services,
    running,
    start,
    read,
    create: async (spec: Partial<Ec2NodeClassSpec> = {}, name = "web") => {
      await world.create(nodeClassManifest(name, spec));
      await world.pass(1);
      return read(name);
    },
    update: async (spec: object, name = "web") => {
      const patch = { kind: "merge", body: { spec } } as const;
      await world.client.patch(karpenterTypes.EC2NodeClass, { name }, patch);
      await world.pass(1);
      return read(name);
    },
    /** Status and reason of a condition. */
    condition: async (type: string, name = "web") => {
      const found = getCondition(await read(name), type);
      return `${found?.status} ${found?.reason}`;
    },
    message: async (type: string, name = "web") => getCondition(await read(name), type)?.message ?? "",
    claim: (claimName: string, changes: object = {}, className = "web") =>
      world.create({
        apiVersion: "karpenter.sh/v1",
        kind: "NodeClaim",
        metadata: { name: claimName, ...changes },
        spec: {
          requirements: [],
          nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: className },
        },
      }),
  };
}

export type NodeClassWorld = Awaited<ReturnType<typeof nodeClassWorld>>;

const discovery = { tags: { "karpenter.sh/discovery": "demo" } };

export function nodeClassManifest(name: string, spec: Partial<Ec2NodeClassSpec> = {}) {
  return {
    apiVersion: "karpenter.k8s.aws/v1",
    kind: "EC2NodeClass",
    metadata: { name },
    spec: {
      ...(spec.amiFamily === undefined && spec.amiSelectorTerms === undefined && { amiFamily: "AL2023" }),
      amiSelectorTerms: [discovery],
      subnetSelectorTerms: [discovery],
      securityGroupSelectorTerms: [discovery],
      ...(spec.instanceProfile === undefined && { role: "KarpenterNodeRole" }),
      ...spec,
    },
  };
}

function typesOf(nodeClass: Ec2NodeClassObject) {
  const zones = [...new Set((nodeClass.status?.subnets ?? []).map(({ zone }) => zone))];
  const result = ec2InstanceTypes({
    ...nodeSettingsOf(nodeClass),
    zones,
    family: (name) => /^(m5|m6g|g4dn|inf1)$/.test(name),
  });
  if ("problem" in result) throw new Error(result.problem.message);
  return result.types;
}

/** Templates as they are asked for; nothing is remembered. */
function plainTemplates(aws: FakeAws): LaunchTemplateStore {
  const { ec2 } = aws.api;
  return {
    ensure: async (specs, tags) => {
      const names = specs.map((_, index) => `karpenter.k8s.aws/${aws.launchTemplates.size + index}`);
      for (const [index, { data }] of specs.entries()) {
        await ec2.createLaunchTemplate({
          LaunchTemplateName: names[index],
          LaunchTemplateData: data,
          TagSpecifications: [{ ResourceType: "launch-template", Tags: tagList(tags) }],
        });
      }
      return names;
    },
    deleteOf: async (name) => {
      const filter = { Name: "tag:karpenter.k8s.aws/ec2nodeclass", Values: [name] };
      for (const { LaunchTemplateName } of await ec2.describeLaunchTemplates({ Filters: [filter] })) {
        await ec2.deleteLaunchTemplate({ LaunchTemplateName });
      }
    },
  };
}
