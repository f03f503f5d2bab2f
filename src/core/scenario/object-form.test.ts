import { describe, expect, it } from "vitest";
import { BuiltInFields } from "../../api/kubernetes/built-in-fields.ts";
import type { KubeObject } from "../../api/object.ts";
import { formatPath } from "../../api/problem.ts";
import { readInputObject } from "./object-form.ts";

const fields = new BuiltInFields();
const problems = (object: unknown) =>
  readInputObject(object as KubeObject, fields).problems.map(({ code, path }) => `${formatPath(path)} ${code}`);

const pod = (spec: unknown, metadata: unknown = { name: "p" }) => ({ apiVersion: "v1", kind: "Pod", metadata, spec });
const container = (more: object = {}) => ({ containers: [{ name: "app", ...more }] });
const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: {},
  spec: { template: { spec: container() } },
};

describe("the form of input objects", () => {
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
    ["a pool without spec", { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: {} }, ["spec required"]],
    [
      "a claim whose node class has no name",
      {
        apiVersion: "karpenter.sh/v1",
        kind: "NodeClaim",
        metadata: {},
        spec: { nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass" } },
      },
      ["spec.nodeClassRef.name required"],
    ],
    [
      "a misspelt field of a Deployment",
      { ...deployment, spec: { ...deployment.spec, replica: 2 } },
      ["spec.replica unknown-field"],
    ],
    [
      "too many replicas",
      { ...deployment, spec: { ...deployment.spec, replicas: 100_001 } },
      ["spec.replicas too-large"],
    ],
    ["a Node without metadata", { apiVersion: "v1", kind: "Node" }, ["metadata required"]],
    [
      "a time that is none",
      { apiVersion: "v1", kind: "Node", metadata: { deletionTimestamp: "soon" } },
      ["metadata.deletionTimestamp format"],
    ],
  ])("%s", (_, object, expected) => {
    expect(problems(object)).toEqual(expected);
  });
});
