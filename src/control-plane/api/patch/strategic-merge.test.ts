import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../test/runs.ts";
import { BuiltInFields } from "../../../api/kubernetes/built-in-fields.ts";
import type { JsonObject } from "../../kinds/object-draft.ts";
import { strategicMerge } from "./strategic-merge.ts";

const fields = new BuiltInFields();
const podSpec = fields.definition("core.v1.PodSpec");
const container = fields.definition("core.v1.Container");
const deploymentSpec = fields.definition("apps.v1.DeploymentSpec");

describe("strategic merge patches (05 §3)", () => {
  /** Lists that are merged, and by which key. */
  const merged: readonly (readonly [definition: string, field: string, key: string])[] = [
    ["core.v1.PodSpec", "containers", "name"],
    ["core.v1.PodSpec", "initContainers", "name"],
    ["core.v1.PodSpec", "ephemeralContainers", "name"],
    ["core.v1.PodSpec", "volumes", "name"],
    ["core.v1.PodSpec", "imagePullSecrets", "name"],
    ["core.v1.PodSpec", "resourceClaims", "name"],
    ["core.v1.PodSpec", "schedulingGates", "name"],
    ["core.v1.PodSpec", "topologySpreadConstraints", "topologyKey"],
    ["core.v1.PodSpec", "hostAliases", "ip"],
    ["core.v1.ServiceAccount", "secrets", "name"],
    ["core.v1.Container", "env", "name"],
    ["core.v1.Container", "volumeMounts", "mountPath"],
    ["core.v1.Container", "volumeDevices", "devicePath"],
    ["core.v1.Container", "ports", "containerPort"],
    ["core.v1.ServiceSpec", "ports", "port"],
    ["core.v1.PodStatus", "conditions", "type"],
    ["core.v1.PodStatus", "podIPs", "ip"],
    ["core.v1.PodStatus", "hostIPs", "ip"],
    ["core.v1.NodeStatus", "conditions", "type"],
    ["core.v1.NodeStatus", "addresses", "type"],
    ["apps.v1.DeploymentStatus", "conditions", "type"],
    ["meta.v1.ObjectMeta", "ownerReferences", "uid"],
  ];
  it.each(merged)("%s.%s is merged by %s", (definition, field, key) => {
    const target = { [field]: [{ [key]: "a", x: 1, y: 1 }, { [key]: "b" }] };
    const patch = { [field]: [{ [key]: "c" }, { [key]: "a", y: 2 }] };
    expect(strategicMerge(target, patch, fields.definition(definition))).toEqual({
      [field]: [{ [key]: "c" }, { [key]: "a", x: 1, y: 2 }, { [key]: "b" }],
    });
  });

  const whole: readonly (readonly [definition: string, field: string])[] = [
    ["core.v1.PodSpec", "tolerations"],
    ["core.v1.NodeSpec", "taints"],
    ["core.v1.Container", "args"],
    ["core.v1.NodeStatus", "images"],
  ];
  it.each(whole)("%s.%s is replaced whole", (definition, field) => {
    const patched = strategicMerge(
      { [field]: [{ key: "a" }] },
      { [field]: [{ key: "b" }] },
      fields.definition(definition),
    );
    expect(patched).toEqual({ [field]: [{ key: "b" }] });
  });

  it.each([
    ["meta.v1.ObjectMeta", "finalizers"],
    ["core.v1.NodeSpec", "podCIDRs"],
  ])("%s.%s is a set", (definition, field) => {
    const schema = fields.definition(definition);
    expect(strategicMerge({ [field]: ["a", "b"] }, { [field]: ["b", "c"] }, schema)).toEqual({
      [field]: ["a", "b", "c"],
    });
    const less = { [`$deleteFromPrimitiveList/${field}`]: ["a"] };
    expect(strategicMerge({ [field]: ["a", "b"] }, less, schema)).toEqual({ [field]: ["b"] });
  });

  it("replaces the selector of a budget", () => {
    const schema = fields.definition("policy.v1.PodDisruptionBudgetSpec");
    const target = { minAvailable: 1, selector: { matchLabels: { a: "1" } } };
    expect(strategicMerge(target, { selector: { matchLabels: { b: "2" } } }, schema)).toEqual({
      minAvailable: 1,
      selector: { matchLabels: { b: "2" } },
    });
  });

  it("keeps only the keys of $retainKeys", () => {
    const target = { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } } };
    const patch = { strategy: { $retainKeys: ["type"], type: "Recreate" } };
    expect(strategicMerge(target, patch, deploymentSpec)).toEqual({ strategy: { type: "Recreate" } });
    const volumes = { volumes: [{ name: "v", emptyDir: {} }] };
    const swap = { volumes: [{ name: "v", $retainKeys: ["name", "hostPath"], hostPath: { path: "/" } }] };
    expect(strategicMerge(volumes, swap, podSpec)).toEqual({ volumes: [{ name: "v", hostPath: { path: "/" } }] });
  });

  it("deletes and replaces items by directive", () => {
    const target = {
      env: [
        { name: "A", value: "1" },
        { name: "B", value: "2" },
      ],
    };
    const patch = {
      env: [
        { name: "A", $patch: "delete" },
        { name: "B", valueFrom: {} },
      ],
    };
    expect(strategicMerge(target, patch, container)).toEqual({ env: [{ name: "B", value: "2", valueFrom: {} }] });
    // In Kubernetes an item with $patch: replace replaces the whole list, not the item.
    const all = { env: [{ name: "B", $patch: "replace" }, { name: "C" }] };
    expect(strategicMerge(target, all, container)).toEqual({ env: [{ name: "C" }] });
    expect(strategicMerge({ resources: { a: 1 } }, { resources: { $patch: "replace", b: 2 } }, container)).toEqual({
      resources: { b: 2 },
    });
    expect(strategicMerge({ resources: { a: 1 } }, { resources: null }, container)).toEqual({});
  });

  it("orders items as $setElementOrder says", () => {
    const target = { containers: [{ name: "a" }, { name: "b" }, { name: "mine" }] };
    const patch = {
      "$setElementOrder/containers": [{ name: "b" }, { name: "new" }, { name: "a" }],
      containers: [{ name: "new" }, { name: "a", image: "x" }],
    };
    const names = (strategicMerge(target, patch, podSpec) as { containers: { name: string }[] }).containers.map(
      ({ name }) => name,
    );
    expect(names).toEqual(["b", "new", "a", "mine"]);
    const first = { containers: [{ name: "mine" }, { name: "a" }, { name: "b" }] };
    expect(strategicMerge(first, patch, podSpec)).toMatchObject({
      containers: [{ name: "mine" }, { name: "b" }, { name: "new" }, { name: "a" }],
    });
  });

  it.each([
    { $patch: "explode" },
    { env: [7] },
    { env: [{ value: "1" }] },
    { env: [{ name: "A" }], $retainKeys: 1 },
    7,
  ])("05:CP-S3 refuses %j", (patch) => {
    expect(() => strategicMerge({ env: [{ name: "A" }] }, patch, container)).toThrow(
      expect.objectContaining({ code: "bad-request" }) as unknown as Error,
    );
  });

  it("merges items as a map of them would be merged", () => {
    const name = fc.constantFrom("a", "b", "c", "d");
    const item = fc.record({ name, value: fc.option(fc.constantFrom("1", "2"), { nil: undefined }) });
    const change = fc.record({
      name,
      value: fc.constantFrom("3", null),
      $patch: fc.constantFrom(undefined, "delete", "replace"),
    });
    const list = fc.uniqueArray(item, { selector: (one) => one.name, maxLength: 4 });
    const changes = fc.uniqueArray(change, { selector: (one) => one.name, maxLength: 4 });
    const property = fc.property(list, changes, (env, patches) => {
      const patch = { env: patches.map(({ $patch, ...rest }) => ($patch === undefined ? rest : { ...rest, $patch })) };
      const { env: result = [] } = strategicMerge({ env }, patch, container) as { env?: JsonObject[] };
      const isReplaced = patches.some(({ $patch }) => $patch === "replace");
      const model = new Map<string, unknown>(isReplaced ? [] : env.map((one) => [one.name, one.value]));
      for (const { name: at, value, $patch } of patches) {
        if (isReplaced && $patch !== undefined) continue;
        if ($patch === "delete") model.delete(at);
        else if (value === null) model.set(at, undefined);
        else model.set(at, value);
      }
      expect(new Map(result.map((one) => [String(one["name"]), one["value"]]))).toEqual(model);
    });
    fc.assert(property, { numRuns: runs(20_000) });
  });
});
