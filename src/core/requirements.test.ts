import { describe, expect, it } from "vitest";
import type { RequirementItem } from "../api/kubernetes/pod.ts";
import { labelPolicy } from "../api/label-policy.ts";
import { labels } from "../api/labels.ts";
import { Requirement } from "./requirement.ts";
import { type NodeSelectingSpec, Requirements } from "./requirements.ts";

const policy = labelPolicy("kwok");

describe("a map of requirements", () => {
  it("02:R-20 stores a new key and narrows an existing one", () => {
    const zones = Requirements.of(Requirement.in("zone", ["a", "b"]), Requirement.in("zone", ["b", "c"]));
    expect(String(zones)).toBe("zone In [b]");
    expect(String(zones.add(Requirement.exists("arch"), Requirement.notIn("zone", ["b"])))).toBe(
      "arch Exists, zone DoesNotExist",
    );
    expect(String(zones)).toBe("zone In [b]");
  });

  it("02:R-20 a missing key may have any value", () => {
    expect(String(Requirements.none.get("zone"))).toBe("zone Exists");
    expect(Requirements.none.has("zone")).toBe(false);
    expect([...Requirements.of(Requirement.exists("b"), Requirement.exists("a")).keys()]).toEqual(["b", "a"]);
  });

  it("replaces and removes a key in a copy", () => {
    const zones = Requirements.of(Requirement.in("zone", ["a"]).withMinValues(2));
    expect(String(zones.replace(zones.get("zone").withMinValues(1)))).toBe("zone In [a] minValues 1");
    expect(String(zones.without("zone"))).toBe("");
    expect(String(zones)).toBe("zone In [a] minValues 2");
    expect([zones.hasMinValues, zones.without("zone").hasMinValues]).toEqual([true, false]);
  });

  it("02:R-21, 02:R-22 labels allow one value each, under their normalised key", () => {
    const fromLabels = Requirements.fromLabels({ "beta.kubernetes.io/arch": "arm64", team: "a" }, policy);
    expect(String(fromLabels)).toBe("kubernetes.io/arch In [arm64], team In [a]");
    const twice = Requirements.fromLabels({ "beta.kubernetes.io/arch": "arm64", [labels.arch]: "amd64" }, policy);
    expect(String(twice)).toBe("kubernetes.io/arch DoesNotExist");
  });

  it("02:R-35 goes back to the API by key", () => {
    const items: RequirementItem[] = [
      { key: "a", operator: "Gte", values: ["5"], minValues: 2 },
      { key: "a", operator: "Lte", values: ["9"], minValues: 2 },
      { key: "b", operator: "In", values: ["x"] },
    ];
    expect(Requirements.fromItems([...items].reverse(), policy).toItems()).toEqual(items);
  });

  it("02:R-37 prints members sorted by text and hides the hostname", () => {
    const all = Requirements.of(
      Requirement.in("b", ["x"]),
      Requirement.in(labels.hostname, ["placeholder"]),
      Requirement.doesNotExist("a"),
    );
    expect(String(all)).toBe("a DoesNotExist, b In [x]");
  });
});

describe("a pod's requirements", () => {
  const zoneIn = (...values: string[]): RequirementItem => ({ key: "zone", operator: "In", values });
  const pod: NodeSelectingSpec = {
    nodeSelector: { arch: "arm64" },
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchExpressions: [zoneIn("a", "b"), { key: "cpu", operator: "Gt", values: ["4"] }] },
            { matchExpressions: [zoneIn("z")] },
          ],
        },
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, preference: { matchExpressions: [zoneIn("c")] } },
          { weight: 50, preference: { matchExpressions: [zoneIn("b")] } },
          { weight: 50, preference: { matchExpressions: [zoneIn("a")] } },
        ],
      },
    },
  };

  it("02:R-21, 01 §4.6 all: node selector, heaviest preference, first required term", () => {
    expect(String(Requirements.fromPod(pod, policy))).toBe("arch In [arm64], cpu Exists >=5, zone In [b]");
  });

  it("02:R-21 strict: without the preference", () => {
    expect(String(Requirements.fromPodStrictly(pod, policy))).toBe("arch In [arm64], cpu Exists >=5, zone In [a b]");
  });

  it("02:R-21 reads only matchExpressions, and nothing from an empty pod", () => {
    const onlyFields: object = { matchFields: [zoneIn("a")] };
    const fields = {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [onlyFields] },
          preferredDuringSchedulingIgnoredDuringExecution: [],
        },
      },
    };
    expect(Requirements.fromPod(fields, policy).size).toBe(0);
    expect(Requirements.fromPod({}, policy).size).toBe(0);
    const noTerms = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } };
    expect(Requirements.fromPodStrictly({ affinity: noTerms }, policy).size).toBe(0);
  });
});
