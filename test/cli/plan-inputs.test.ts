import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.ts";
import type { PlanReport } from "../../src/cli/plan/plan-report.ts";
import { fakeIo } from "../conversion/fake-io.ts";

const kwok = readFileSync(join(import.meta.dirname, "..", "..", "examples", "kwok.yaml"), "utf8");

interface Planned {
  readonly code: number | undefined;
  readonly out: string;
  readonly err: string;
}

async function plan(texts: readonly string[], ...args: readonly string[]): Promise<Planned> {
  const io = fakeIo({ files: { "in.yaml": [kwok, ...texts].join("\n---\n") } });
  await main(["plan", "-f", "in.yaml", ...args], io);
  return { code: io.code(), out: io.out(), err: io.err() };
}

async function report(texts: readonly string[], ...args: readonly string[]): Promise<PlanReport> {
  const { out, err } = await plan(texts, "-o", "json", ...args);
  if (out === "") throw new Error(err);
  return JSON.parse(out) as PlanReport;
}

const podSpec = (cpu: string, more = "") =>
  `{${more}containers: [{name: app, image: app, resources: {requests: {cpu: "${cpu}"}}}]}`;

const deployment = (name: string, spec: string, cpu = "1") => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  selector: {matchLabels: {app: ${name}}}
  ${spec}
  template:
    metadata: {labels: {app: ${name}}}
    spec: ${podSpec(cpu)}`;

describe("Jobs are work, not 730 hours a month", () => {
  const ownNode = (kind: string) =>
    `affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {}, topologyKey: ${kind}}]}}, `;
  const job = `
apiVersion: batch/v1
kind: Job
metadata: {name: etl}
spec:
  template: {spec: ${podSpec("3", `restartPolicy: Never, ${ownNode("kubernetes.io/hostname")}`)}}`;

  it("a node that only runs them is marked, and is not in the monthly figure", async () => {
    const { newNodes, totals } = await report([deployment("web", "replicas: 1", "3"), job]);
    const [ofJob, ofWeb] = [...newNodes].sort((a, b) => (a.pods[0] ?? "").localeCompare(b.pods[0] ?? ""));
    expect([ofJob?.onlyJobs, ofWeb?.onlyJobs]).toEqual([true, undefined]);
    expect(totals.pricePerMonth).toBeCloseTo((ofWeb?.price ?? 0) * 730);
    expect(totals.jobsPricePerHour).toBeCloseTo(ofJob?.price ?? 0);
    expect(totals.pricePerHour).toBeCloseTo((ofWeb?.price ?? 0) + (ofJob?.price ?? 0));
    const { out } = await plan([deployment("web", "replicas: 1", "3"), job]);
    expect(out).toMatch(/while jobs run +default\/etl-0/);
    expect(out).toMatch(/\/month without \$\d+\.\d+\/hour for nodes that only run Jobs/);
  });

  it("a node they share with other pods is there all month", async () => {
    const shared = job.replace(ownNode("kubernetes.io/hostname"), "");
    const { newNodes, totals } = await report([deployment("web", "replicas: 1", "3"), shared]);
    expect(newNodes).toHaveLength(1);
    expect(newNodes[0]?.onlyJobs).toBeUndefined();
    expect(totals.jobsPricePerHour).toBeUndefined();
  });
});
