import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import { formatPath } from "../../api/problem.ts";
import { objectShapeProblems } from "./object-shapes.ts";

const problems = (object: unknown) =>
  objectShapeProblems(object as KubeObject).map(({ code, path }) => `${formatPath(path)} ${code}`);

const pod = (spec: unknown, metadata: unknown = { name: "p" }) => ({ apiVersion: "v1", kind: "Pod", metadata, spec });
const container = (more: object = {}) => ({ containers: [{ name: "app", ...more }] });

describe("the shape of foreign objects", () => {
  it.each<[string, unknown, readonly string[]]>([
    ["nothing is wrong", pod(container({ resources: { requests: { cpu: 1, memory: "1Gi" } } })), []],
    ["a spec that is text", pod("x"), ["spec type"]],
    ["no containers", pod({}), ["spec.containers required"]],
    ["an empty list of containers", pod({ containers: [] }), ["spec.containers too-few"]],
    [
      "a quantity that is none",
      pod(container({ resources: { limits: { cpu: "1 core" } } })),
      ["spec.containers[0].resources.limits.cpu format"],
    ],
    [
      "a request below zero",
      pod(container({ resources: { requests: { cpu: "-1" } } })),
      ["spec.containers[0].resources.requests.cpu too-small"],
    ],
    [
      "a label that is a number",
      pod(container(), { name: "p", labels: { version: 1 } }),
      ["metadata.labels.version type"],
    ],
    [
      "a misspelt field",
      pod({ ...container(), topologySpreadConstraint: [] }),
      ["spec.topologySpreadConstraint unknown-field"],
    ],
    ["a field of pods we do not read", pod({ ...container(), restartPolicy: "Never" }), []],
    ["a selector of numbers", pod({ ...container(), nodeSelector: { gpu: true } }), ["spec.nodeSelector.gpu type"]],
    [
      "replicas in quotes",
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: {},
        spec: { replicas: "3", template: { spec: container() } },
      },
      ["spec.replicas type"],
    ],
    [
      "fewer than no replicas",
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: {},
        spec: { replicas: -1, template: { spec: container() } },
      },
      ["spec.replicas too-small"],
    ],
    [
      "a pool whose budgets are no list",
      { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: {}, spec: { disruption: { budgets: {} } } },
      ["spec.disruption.budgets type"],
    ],
    ["a Node without metadata", { apiVersion: "v1", kind: "Node" }, ["metadata required"]],
    [
      "a time that is none",
      { apiVersion: "v1", kind: "Node", metadata: { deletionTimestamp: "soon" } },
      ["metadata.deletionTimestamp format"],
    ],
    ["a kind we pass by", { apiVersion: "v1", kind: "Service", spec: 7 }, []],
  ])("%s", (_, object, expected) => {
    expect(problems(object)).toEqual(expected);
  });
});
