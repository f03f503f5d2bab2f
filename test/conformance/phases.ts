import { readdirSync, readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { resourcePrice } from "../../bench/mixed-pods.ts";
import { kwokLabels } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { Quantity } from "../../src/util/quantity.ts";
import { type Connection, connect, itemsOf } from "../cluster/kube.ts";

/** A phase of a performance spec: what the suite reports of it, and what the nodes cost at its end. */
export interface Phase {
  readonly name: string;
  readonly seconds: number;
  readonly nodes: number;
  /** The controller's, as the suite read it from its metrics; none when it could not. */
  readonly cpuSeconds?: number;
  readonly peakMb?: number;
  readonly pricePerHour?: number;
  /** The price over that of exactly what the pods ask for. */
  readonly overBound?: number;
  /** Load average of the machine at the end. */
  readonly load?: number;
}

/** What the suite writes of a phase. Times are in nanoseconds. */
interface PhaseReport {
  readonly test_type: string;
  readonly total_time: number;
  readonly total_nodes: number;
  readonly timestamp: string;
  readonly karpenter_avg_cpu_cores: number;
  readonly karpenter_max_memory_mb: number;
  readonly metrics_sample_count: number;
}

export interface PriceSample {
  readonly at: number;
  readonly pricePerHour: number;
  readonly overBound: number;
  readonly load?: number;
}

/** The phases whose reports a spec left in its folder, in the order of time. */
export function phasesIn(dir: string, samples: readonly PriceSample[]): readonly Phase[] {
  return readdirSync(dir)
    .filter((file) => file.endsWith("_performance_report.json"))
    .map((file): PhaseReport => JSON.parse(readFileSync(join(dir, file), "utf8")))
    .sort((a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp))
    .map((report) => phaseOf(report, samples));
}

export function phaseOf(report: PhaseReport, samples: readonly PriceSample[]): Phase {
  const seconds = report.total_time / 1e9;
  const last = samples.findLast(({ at }) => at <= Date.parse(report.timestamp));
  return {
    name: report.test_type,
    seconds: Math.round(seconds),
    nodes: report.total_nodes,
    ...(report.metrics_sample_count > 0 && {
      cpuSeconds: Math.round(report.karpenter_avg_cpu_cores * seconds),
      peakMb: Math.round(report.karpenter_max_memory_mb),
    }),
    ...(last && { pricePerHour: rounded(last.pricePerHour), overBound: rounded(last.overBound) }),
    ...(last?.load !== undefined && { load: Math.round(last.load) }),
  };
}

const everyMs = 5_000;

/** Notes every few seconds what the nodes cost, until it is stopped. */
export function samplePrices(connection: Connection): { readonly samples: PriceSample[]; stop(): void } {
  const kube = connect(connection);
  const samples: PriceSample[] = [];
  const read = async (path: string) => itemsOf((await kube.request("GET", `${path}?resourceVersion=0`)).body);
  const timer = setInterval(async () => {
    try {
      const nodes = await read("/api/v1/nodes");
      const price = priceOf(nodes, await read("/api/v1/namespaces/default/pods"), Date.now());
      samples.push({ ...price, load: loadavg()[0] ?? 0 });
    } catch {
      // A sample less; the API server may be about to stop.
    }
  }, everyMs);
  return {
    samples,
    stop: () => {
      clearInterval(timer);
      kube.close();
    },
  };
}

interface SampledPod extends KubeObject {
  readonly spec: {
    readonly containers: readonly { readonly resources?: { readonly requests?: Readonly<Record<string, string>> } }[];
  };
}

export function priceOf(nodes: readonly KubeObject[], pods: readonly KubeObject[], at: number): PriceSample {
  const pricePerHour = sum(nodes, ({ metadata }) => Number(metadata.labels?.[kwokLabels.instancePrice] ?? 0));
  // Also pods that do not run yet: the last of a phase may start after its last sample.
  const staying = (pods as readonly SampledPod[]).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const bound = sum(staying, ({ spec }) => sum(spec.containers, ({ resources }) => requestsPrice(resources?.requests)));
  return { at, pricePerHour, overBound: bound === 0 ? 0 : pricePerHour / bound };
}

function requestsPrice({ cpu = "0", memory = "0" }: Readonly<Record<string, string>> = {}): number {
  return resourcePrice(Quantity.parse(cpu).toNumber(), Quantity.parse(memory).toNumber());
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
