import { awsLabels, groups, labels } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import type { PlanProvider } from "./plan-choices.ts";
import { servedNodeClasses } from "./provider-catalogue.ts";

/** The NodePool used when the input has none: what most clusters start with. */
export function defaultPool(provider: PlanProvider): KubeObject {
  const general = [
    { key: labels.os, operator: "In", values: ["linux"] },
    { key: labels.arch, operator: "In", values: ["amd64"] },
    { key: labels.capacityType, operator: "In", values: ["on-demand"] },
  ];
  const ec2 = [
    { key: awsLabels.instanceCategory, operator: "In", values: ["c", "m", "r"] },
    { key: awsLabels.instanceGeneration, operator: "Gt", values: ["2"] },
  ];
  return {
    apiVersion: `${groups.karpenter}/v1`,
    kind: "NodePool",
    metadata: { name: "default" },
    spec: {
      template: {
        spec: {
          nodeClassRef: { ...servedNodeClasses[provider], name: "default" },
          requirements: provider === "aws" ? [...general, ...ec2] : general,
        },
      },
    },
  };
}

export const defaultPoolDescriptions: Readonly<Record<PlanProvider, string>> = {
  kwok: "linux, amd64, on-demand",
  aws: "linux, amd64, on-demand, families c, m and r of generation 3 and newer",
};
