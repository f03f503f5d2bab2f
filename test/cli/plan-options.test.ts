import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.ts";
import { fakeIo } from "../conversion/fake-io.ts";

const examples = join(import.meta.dirname, "..", "..", "examples");
const example = (name: string): string => readFileSync(join(examples, name), "utf8");

const plainWeb = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web, resources: {requests: {cpu: 100m}}}]`;

const spreadByDefault = `
podTopologySpread:
  defaultConstraints:
    - {topologyKey: topology.kubernetes.io/zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}`;

async function plan(files: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const io = fakeIo({ files });
  const manifests = Object.keys(files).filter((name) => name !== "scheduler.yaml");
  const code = await main(["plan", ...manifests.flatMap((name) => ["-f", name]), "-o", "json", ...args], io);
  const report = io.out() === "" ? undefined : (JSON.parse(io.out()) as { totals: Record<string, number> });
  return { code, err: io.err(), totals: report?.totals ?? {} };
}

describe("karpenter plan", () => {
  const files = { "kwok.yaml": example("kwok.yaml"), "workload.yaml": example("workload.yaml") };

  it("--bound says what no plan can undercut", async () => {
    const { totals } = await plan(files, "--bound");
    expect(totals["lowerBoundPerHour"]).toBeGreaterThan(0);
    expect(totals["lowerBoundPerHour"]).toBeLessThanOrEqual(totals["pricePerHour"] ?? 0);
  });

  it("--packing polished is the default, never dearer and never on more nodes than plain", async () => {
    const [polished, plain] = [await plan(files), await plan(files, "--packing", "plain")];
    expect(polished.totals["pricePerHour"]).toBeLessThanOrEqual(plain.totals["pricePerHour"] ?? 0);
    expect(polished.totals["newNodes"]).toBeLessThanOrEqual(plain.totals["newNodes"] ?? 0);
    expect(await plan(files, "--packing", "polished")).toMatchObject({ code: 0, totals: { pods: 18 } });
  });

  it("02:X-50 02:X-51 --scheduler-config spreads what has no constraints of its own", async () => {
    const web = { "kwok.yaml": example("kwok.yaml"), "web.yaml": plainWeb };
    const nodes = async (...args: readonly string[]) =>
      (await plan({ ...web, "scheduler.yaml": spreadByDefault }, ...args)).totals["newNodes"];
    expect(await nodes()).toBe(1);
    expect(await nodes("--scheduler-config", "scheduler.yaml")).toBe(4);
  });

  it("02:X-51 --scheduler-config spreads pods that a Service selects, though nothing owns them", async () => {
    const pod = (name: string) =>
      `{apiVersion: v1, kind: Pod, metadata: {name: ${name}, labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}`;
    const service = "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}}}";
    const nodes = async (...texts: readonly string[]) => {
      const web = { "kwok.yaml": example("kwok.yaml"), "web.yaml": texts.join("\n---\n") };
      const args = ["--scheduler-config", "scheduler.yaml"];
      return (await plan({ ...web, "scheduler.yaml": spreadByDefault }, ...args)).totals["newNodes"];
    };
    expect(await nodes(pod("a"), pod("b"))).toBe(1);
    expect(await nodes(pod("a"), pod("b"), service)).toBe(2);
  });

  it("02:X-50 says where a scheduler config is wrong", async () => {
    const config = spreadByDefault.replace("maxSkew: 1", "maxSkew: 0");
    const { code, err } = await plan({ ...files, "scheduler.yaml": config }, "--scheduler-config", "scheduler.yaml");
    expect(code).toBe(1);
    expect(err).toMatch(/^scheduler\.yaml:\d+:\d+: error: podTopologySpread\.defaultConstraints\[0\]\.maxSkew/m);
  });
});
