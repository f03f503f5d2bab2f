import type { Metric, Registry } from "prom-client";
import { LiveGauge } from "./live-gauge.ts";

interface MetricSample {
  readonly metricName?: string | undefined;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly value: number;
}

/** About two milliseconds of work. */
const linesPerChunk = 500;

/**
 * All metrics as text, in chunks: with a series for each of fifty thousand pods it is tens of megabytes. Yields between
 * chunks.
 */
export async function* metricsExposition(
  registry: Registry,
  yieldToEventLoop: () => Promise<void>,
): AsyncGenerator<string> {
  for (const metric of registry.getMetricsAsArray() as unknown as readonly RegisteredMetric[]) {
    yield `# HELP ${metric.name} ${escapedHelp(metric.help)}\n# TYPE ${metric.name} ${metric.type}\n`;
    let lines: string[] = [];
    for (const sample of await samplesOf(metric)) {
      lines.push(sampleLine(metric.name, sample));
      if (lines.length < linesPerChunk) continue;
      yield lines.join("");
      lines = [];
      await yieldToEventLoop();
    }
    if (lines.length > 0) yield lines.join("");
  }
}

type RegisteredMetric = Metric & { readonly name: string; readonly help: string; readonly type: string };

async function samplesOf(metric: RegisteredMetric): Promise<Iterable<MetricSample>> {
  if (!(metric instanceof LiveGauge)) return (await metric.get()).values as readonly MetricSample[];
  return concatenated(await metric.stored(), metric.live());
}

function* concatenated(stored: Iterable<MetricSample>, live: Iterable<MetricSample>): Generator<MetricSample> {
  yield* stored;
  yield* live;
}

function sampleLine(name: string, { metricName = name, labels, value }: MetricSample): string {
  let pairs = "";
  for (const label of Object.keys(labels)) {
    pairs += `${pairs === "" ? "" : ","}${label}="${escaped(String(labels[label] ?? ""))}"`;
  }
  return `${metricName}${pairs === "" ? "" : `{${pairs}}`} ${valueText(value)}\n`;
}

function valueText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
}

/** Fast path: nearly no label needs escaping, and there are very many of them. */
function escaped(text: string): string {
  if (!/[\\\n"]/.test(text)) return text;
  return text.replace(/[\\\n"]/g, (char) => (char === "\n" ? "\\n" : `\\${char}`));
}

function escapedHelp(text: string): string {
  return text.replace(/[\\\n]/g, (char) => (char === "\n" ? "\\n" : "\\\\"));
}
