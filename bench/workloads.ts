import { type LabelPolicy, labelPolicy } from "../src/api/label-policy.ts";
import { awsLabels, groups, kwokLabels, labels } from "../src/api/labels.ts";
import type { KubeObject } from "../src/api/object.ts";
import type { InstanceType } from "../src/core/instance-type.ts";
import { ec2InstanceTypes } from "../src/providers/aws/index.ts";
import {
  fakeInstanceTypes,
  fakeLabels,
  kwokInstanceTypes,
  parseKwokFile,
  toKwokFile,
  withOfferingKeys,
} from "../src/providers/kwok/index.ts";
import { deploymentMix } from "./deployment-mix.ts";
import { kwokPhases } from "./kwok-phases.ts";
import { diverse, preferences } from "./mixes.ts";

/** Something to measure on: objects as they would be parsed from files, and what is on sale. */
export interface Workload {
  readonly name: string;
  readonly objects: readonly KubeObject[];
  readonly onSale: OnSale;
}

export interface OnSale {
  /** As `--instance-types` takes it, of the plan and of the oracle alike; a catalogue file otherwise. */
  readonly name: "kwok" | "fake:400" | "file";
  readonly types: readonly InstanceType[];
  readonly labelPolicy: LabelPolicy;
  /** Of a file. */
  readonly text?: string;
}

/** Every workload by name, made only when asked for. */
export const workloads: ReadonlyMap<string, () => Workload> = new Map<string, () => Workload>([
  ...[1000, 5000, 20_000].map((count): [string, () => Workload] => [
    `diverse-${count}`,
    () => onFake(`diverse-${count}`, diverse(count) as readonly KubeObject[]),
  ]),
  ["preferences-4000", () => onFake("preferences-4000", preferences(4000) as readonly KubeObject[])],
  ...Object.entries(kwokPhases).map(([name, objects]): [string, () => Workload] => [
    name,
    () => ({ name, objects: onKwokPhase(objects), onSale: kwokOnSale() }),
  ]),
  ["deployment-mix", () => onEc2("deployment-mix", deploymentMix(2000))],
]);

export function onFake(name: string, objects: readonly KubeObject[]): Workload {
  const types = fakeInstanceTypes(400);
  const policy = labelPolicy("kwok");
  const wellKnown = new Set([...policy.wellKnown, ...Object.values(fakeLabels)]);
  const limits = { cpu: "10000000", memory: "10000000Gi" };
  return {
    name,
    objects: [nodePool([], limits), ...objects],
    onSale: { name: "fake:400", types, labelPolicy: withOfferingKeys({ ...policy, wellKnown }, types) },
  };
}

export function onKwok(name: string, objects: readonly KubeObject[], limits?: object): Workload {
  return { name, objects: [nodePool([], limits), ...objects], onSale: kwokOnSale() };
}

function kwokOnSale(): OnSale {
  const types = kwokInstanceTypes();
  return { name: "kwok", types, labelPolicy: withOfferingKeys(labelPolicy("kwok"), types) };
}

/** EC2 as a KWOK file, so that both sides read the same types. */
export function onEc2(name: string, objects: readonly KubeObject[]): Workload {
  const wanted = new Set<string>([awsLabels.instanceCategory, awsLabels.instanceGeneration]);
  const found = ec2InstanceTypes({ region: "us-west-2" });
  if ("problem" in found) throw new Error(found.problem.message);
  const text = toKwokFile(found.types, { includesLabel: (label) => wanted.has(label) });
  const policy = labelPolicy("kwok");
  const read = parseKwokFile(text, policy);
  if ("problems" in read) throw new Error(read.problems[0]?.message ?? "the export cannot be read");
  const pool = nodePool([
    { key: labels.os, operator: "In", values: ["linux"] },
    { key: labels.arch, operator: "In", values: ["amd64", "arm64"] },
    { key: labels.capacityType, operator: "In", values: ["spot", "on-demand"] },
    { key: awsLabels.instanceCategory, operator: "In", values: ["c", "m", "r"] },
    { key: awsLabels.instanceGeneration, operator: "Gt", values: ["4"] },
  ]);
  return {
    name,
    objects: [pool, ...objects],
    onSale: { name: "file", types: read.types, labelPolicy: withOfferingKeys(policy, read.types), text },
  };
}

/** The objects of a KWOK phase with its pool. */
export function onKwokPhase(objects: readonly KubeObject[]): readonly KubeObject[] {
  return [phasePool(), ...objects];
}

function phasePool(): KubeObject {
  return nodePool([
    { key: labels.capacityType, operator: "In", values: ["on-demand"] },
    { key: labels.os, operator: "In", values: ["linux"] },
    { key: kwokLabels.instanceCpu, operator: "Lt", values: ["32"] },
  ]);
}

function nodePool(requirements: readonly object[], limits?: object): KubeObject {
  return {
    apiVersion: `${groups.karpenter}/v1`,
    kind: "NodePool",
    metadata: { name: "default" },
    spec: {
      template: {
        spec: { requirements, nodeClassRef: { group: groups.kwok, kind: "KWOKNodeClass", name: "default" } },
      },
      ...(limits !== undefined && { limits }),
      disruption: {
        consolidateAfter: "30s",
        consolidationPolicy: "WhenEmptyOrUnderutilized",
        budgets: [{ nodes: "100%" }],
      },
    },
  };
}
