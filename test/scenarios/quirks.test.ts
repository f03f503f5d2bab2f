import { describe, expect, it } from "vitest";
import { labels } from "../../src/api/labels.ts";
import type { PlanReport } from "../../src/cli/plan/plan-report.ts";
import { differences, type Schedule } from "./compare.ts";
import { planScenario, readScenario, scenariosIn } from "./run.ts";

const folder = "quirks";

function zones({ newNodes }: PlanReport): readonly (string | undefined)[] {
  return newNodes.map(({ requirements }) => requirements[labels.zone]).sort();
}

function podsOf({ newNodes }: PlanReport): readonly (readonly string[])[] {
  return newNodes.map(({ pods }) => pods);
}

function seeded(name: string, seeds: number): Promise<readonly PlanReport[]> {
  const plans = Array.from({ length: seeds }, (_, seed) =>
    planScenario(folder, name, { args: ["--seed", String(seed)] }),
  );
  return Promise.all(plans);
}

/** Where we differ from upstream on purpose. (02 §12.2) */
describe("plans of the quirk scenarios", () => {
  it.each(scenariosIn(folder).map((name) => [name]))("%s is not upstream's answer", async (name) => {
    const upstream = JSON.parse(readScenario(folder, `${name}.upstream.json`)) as Schedule;
    const { newNodes, ...ours } = await planScenario(folder, name);
    const isDrawn = ["004", "008", "012"].some((number) => name.startsWith(number));
    const level = isDrawn ? undefined : "exact";
    if (level !== undefined) expect(differences(upstream, { newNodes, ...ours }, level)).not.toEqual([]);
  });

  it("02:H-3 the nodes limit holds inside a round", async () => {
    const plan = await planScenario(folder, "001-nodes-limit");
    expect(podsOf(plan)).toEqual([["default/web-0"]]);
    const text = "node limits have been exhausted for nodepool (NodePool=default)";
    expect(plan.unschedulable).toEqual({ "default/web-1": text, "default/web-2": text });
  });

  it("02:X-5 constraints that differ in minDomains alone are two groups", async () => {
    const plan = await planScenario(folder, "002-min-domains-identity");
    expect(podsOf(plan)).toEqual([["default/a-0"], ["default/a-1"]]);
    expect(zones(plan)).toEqual(["In [test-zone-a]", "In [test-zone-b]"]);
    expect(Object.keys(plan.unschedulable)).toEqual(["default/b-0", "default/b-1"]);
  });

  it("02:X-5 constraints of pods with different node selectors are two groups", async () => {
    const plan = await planScenario(folder, "003-filter-identity");
    expect(podsOf(plan)).toEqual([["default/a-0"], ["default/a-1"], ["default/b-0"], ["default/b-1"]]);
    const zonesOf = (pool: string) =>
      zones({ ...plan, newNodes: plan.newNodes.filter((one) => one.nodePool === pool) });
    expect(zonesOf("x")).toEqual(["In [test-zone-a]", "In [test-zone-b]"]);
    expect(zonesOf("y")).toEqual(["In [test-zone-a]", "In [test-zone-b]"]);
  });

  it("02:X-9 a constraint without selector counts nobody, so that either zone will do", async () => {
    const plans = await seeded("004-nil-selector", 12);
    expect(new Set(plans.flatMap(zones))).toEqual(new Set(["In [test-zone-a]", "In [test-zone-b]"]));
    for (const plan of plans) expect(plan.totals.unschedulable).toBe(0);
  });

  it("02:G-1 every type is tried against every term of a daemon: m-2x is out", async () => {
    const [node] = (await planScenario(folder, "005-daemon-or-terms")).newNodes;
    expect(node?.instanceTypes).toContain("s-2x-amd64-linux");
    expect(node?.instanceTypes).not.toContain("m-2x-amd64-linux");
    expect(node?.instanceTypes).not.toContain("c-2x-amd64-linux");
  });

  it("02:E-4 an existing node is tried against every term of a daemon", async () => {
    const plan = await planScenario(folder, "006-daemon-or-terms-node");
    expect(plan.existingNodes).toEqual({});
    expect(plan.newNodes.map(({ instanceTypes }) => instanceTypes)).toEqual([["s-4x-amd64-linux"]]);
  });

  it("02:X-1 a value a pool excludes is no domain", async () => {
    const plan = await planScenario(folder, "007-excluded-value");
    expect(Object.keys(plan.unschedulable)).toEqual(["default/web-0", "default/web-1"]);
    expect(plan.unschedulable["default/web-0"]).toContain("counts = , ");
  });

  it("02:X-30 a zone self-affinity starts in exactly one zone", async () => {
    const plans = await seeded("008-self-affinity-zone", 12);
    for (const plan of plans) {
      expect(plan.newNodes).toHaveLength(4);
      expect(new Set(zones(plan)).size).toBe(1);
    }
    expect(new Set(plans.flatMap(zones)).size).toBeGreaterThan(1);
  });

  it("02:X-10 a group that relaxation makes counts the pods this pass has placed", async () => {
    const plan = await planScenario(folder, "009-spread-forgets-honor");
    expect(plan.existingNodes).toEqual({ n1: ["default/w-0"] });
    expect(Object.keys(plan.unschedulable)).toEqual(["default/w-1", "default/w-2"]);
  });

  it("02:X-5 a toleration that relaxation adds makes no new group where taints are ignored", async () => {
    const plan = await planScenario(folder, "010-spread-forgets-ignore");
    expect(plan.existingNodes).toEqual({ n1: ["default/w-0"] });
    expect(Object.keys(plan.unschedulable)).toEqual(["default/w-1", "default/w-2"]);
  });

  it("02:X-40 a zone that a claim excludes stays free for those who keep away from its pods", async () => {
    const plan = await planScenario(folder, "011-anti-affinity-excluded-value");
    expect(podsOf(plan)).toEqual([["default/p"], ["default/q"]]);
    expect(plan.newNodes[0]?.requirements[labels.zone]).toBe("In [test-zone-a test-zone-b test-zone-c test-zone-d]");
  });

  it("02:X-20 rules that contradict each other put no pod on a node without the label", async () => {
    for (const plan of await seeded("012-contradiction-on-missing-label", 12)) {
      expect(plan.existingNodes).toEqual({});
      expect(podsOf(plan)).toEqual([["default/w0-0", "default/w0-1", "default/w0-2"]]);
    }
  });
});
