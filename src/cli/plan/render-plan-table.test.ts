import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import type { PriceSource } from "../../core/price-source.ts";
import type { PlanReport, ReportedNode } from "./plan-report.ts";
import { renderPlanTable } from "./render-plan-table.ts";

const list: PriceSource = { kind: "list", region: "us-east-1", date: "2026-07-20" };
const estimate: PriceSource = { kind: "estimate", basis: "spot-share", region: "us-east-1", date: "2026-08-22" };

function node(fields: Partial<ReportedNode> = {}): ReportedNode {
  return {
    nodePool: "default",
    pods: ["default/web-0", "default/web-1"],
    instanceTypes: ["m5.large", "m5a.large"],
    price: 0.096,
    priceSource: list,
    requirements: { "kubernetes.io/arch": "In [amd64]" },
    instanceType: "m5.large",
    machine: { vcpu: 2, memoryGiB: 8 },
    capacityType: "on-demand",
    zones: ["us-east-1a", "us-east-1b", "us-east-1d"],
    fill: { cpu: 0.52, memory: 0.29 },
    requests: { cpu: "1", memory: "2Gi" },
    ...fields,
  };
}

const spot = (at: number) =>
  node({
    nodePool: "a-pool-with-quite-a-long-name",
    pods: Array.from({ length: 12 }, (_, index) => `batch/a-workload-of-the-night-${at}${index}`),
    instanceType: "g4dn.12xlarge",
    machine: { vcpu: 48, memoryGiB: 192, gpus: 4, acceleratorName: "t4" },
    capacityType: "spot",
    zones: ["us-east-1f"],
    price: 1.5648,
    priceSource: estimate,
  });

const report: PlanReport = {
  region: "us-east-1",
  newNodes: [node(), spot(1), spot(2), node({ pods: ["default/job-0"], onlyJobs: true })],
  existingNodes: { "ip-10-0-12-34.us-east-1.compute.internal": ["default/api-0", "default/api-1", "default/db-0"] },
  unschedulable: {},
  refusals: ["default/huge-0", "default/huge-1", "ml/train-0"].map((pod) => ({
    pod,
    code: "instance-types",
    message: "no instance type has enough resources, requirements=karpenter.sh/nodepool In [default]",
  })),
  priceSources: [
    { source: estimate, isEstimate: true, nodes: 2, pricePerHour: 3.1296 },
    { source: list, isEstimate: false, nodes: 2, pricePerHour: 0.192 },
  ],
  totals: {
    pods: 33,
    newNodes: 4,
    unschedulable: 3,
    pricePerHour: 3.3216,
    pricePerMonth: 2354.688,
    jobsPricePerHour: 0.096,
    resourceBoundPerHour: 3,
    gap: 0.1072,
  },
  notes: ["no NodePool was given; using a default one (linux, amd64, on-demand); add your own with -f nodepool.yaml"],
};

const lines = (text: string) => text.split("\n");

describe("the table of a plan", () => {
  it("has machine, zones, price of one and of all, marks of estimates and of jobs, within 80 columns", () => {
    const text = renderPlanTable(report, { wide: false, color: false });
    expect(text).toBe(`NODES  POOL           INSTANCE TYPE  CAPACITY   ZONE             $/HOUR    TOTAL
    2  a-pool-with-…  g4dn.12xlarge  spot       us-east-1f      ~1.5648  ~3.1296
       48 vCPU, 192Gi, 4 GPUs (t4), 52% cpu and 29% memory requested:
       batch/a-workload-of-the-night ×24
    1  default        m5.large       on-demand  us-east-1a,b,d   0.0960   0.0960
       2 vCPU, 8Gi, 52% cpu and 29% memory requested: default/web ×2
    1  default        m5.large       on-demand  us-east-1a,b,d   0.0960   0.0960
       2 vCPU, 8Gi, 52% cpu and 29% memory requested, only while jobs run:
       default/job-0

EXISTING NODE                             #  PODS
ip-10-0-12-34.us-east-1.compute.internal  3  default/api ×2, default/db-0

33 pods: 27 on 4 new nodes, 3 on existing nodes, 3 cannot be scheduled.
$3.3216/hour, $2354.69/month without $0.0960/hour while Jobs run; 10.7% above
the resource bound of $3.0000/hour.
Price (2 nodes): ~ estimated: the usual share spot cost of the price on demand
in us-east-1 on 2026-08-22.
Price (2 nodes): list price of us-east-1 on 2026-07-20.

Unschedulable:
  3 pods (default/huge ×2, ml/train-0): no instance type has enough resources,
    requirements=karpenter.sh/nodepool In [default]
To see what would help, run with the same options:
  karpenter explain pod default/huge-0

note: no NodePool was given; using a default one (linux, amd64, on-demand); add
  your own with -f nodepool.yaml
`);
    expect(lines(text).filter((line) => line.length > 80)).toEqual([]);
  });

  it("is as wide as it takes with -o wide, one row a node", () => {
    const [titles = "", ...rows] = lines(renderPlanTable(report, { wide: true, color: false }));
    expect(titles).toMatch(/^POOL +INSTANCE TYPE +MACHINE +CAPACITY +ZONES +CPU +MEMORY +\$\/HOUR +\$\/MONTH +PRICE +/);
    expect(rows.slice(0, 4).map((row) => row.includes("2 vCPU, 8Gi") || row.includes("4 GPUs (t4)"))).toEqual(
      Array(4).fill(true),
    );
    expect(rows[0]).toContain("us-east-1a,us-east-1b,us-east-1d");
    expect(rows[1]).toMatch(/~1\.5648 +~1142\.30 {2}estimated: the usual share spot cost/);
  });

  it("fits 80 columns whatever the names", () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,61}[a-z]$/);
    const any = fc.record({
      nodePool: name,
      instanceType: name,
      zones: fc.array(name, { maxLength: 6 }),
      price: fc.double({ min: 0.001, max: 500, noNaN: true }),
      pods: fc.array(name, { maxLength: 9 }),
      priceSource: fc.constantFrom(list, estimate),
    });
    fc.assert(
      fc.property(
        fc.array(any, { minLength: 1, maxLength: 5 }),
        fc.dictionary(name, fc.array(name)),
        (nodes, placed) => {
          const random = { ...report, newNodes: nodes.map(node), existingNodes: placed, refusals: [] };
          const text = renderPlanTable(random, { wide: false, color: false });
          expect(lines(text).filter((line) => line.length > 80)).toEqual([]);
        },
      ),
      { numRuns: runs(300) },
    );
  });
});
