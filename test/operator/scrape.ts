import type { Registry } from "prom-client";
import { metricsExposition } from "../../src/operator/metrics/metrics-exposition.ts";

export interface ScrapedMetric {
  readonly type: string;
  /** Values by their labels, as written, in any order: `a="1",b="2"` sorted. */
  readonly samples: ReadonlyMap<string, number>;
}

/** What Prometheus would see: by name, each with its samples by `suffix{labels}`. */
export async function scrape(registry: Registry): Promise<ReadonlyMap<string, ScrapedMetric>> {
  return parseExposition(await textOf(registry));
}

async function textOf(registry: Registry): Promise<string> {
  let text = "";
  for await (const piece of metricsExposition(registry, async () => {})) text += piece;
  return text;
}

export function parseExposition(text: string): ReadonlyMap<string, ScrapedMetric> {
  const metrics = new Map<string, { type: string; samples: Map<string, number> }>();
  let current = "";
  for (const line of text.split("\n")) {
    const [, name = "", type = ""] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (name !== "") {
      current = name;
      metrics.set(name, { type, samples: new Map() });
    }
    if (line === "" || line.startsWith("#")) continue;
    const [, full = "", labels = "", value = ""] = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (!full.startsWith(current)) throw new Error(`a line that belongs nowhere: ${line}`);
    const sorted = (labels.match(/\w+="(?:[^"\\]|\\.)*"/g) ?? []).sort().join(",");
    metrics.get(current)?.samples.set(`${full.slice(current.length)}{${sorted}}`, Number(value));
  }
  return metrics;
}

/** The labels a sample carries, by name. */
export function labelsOf(sample: string): Readonly<Record<string, string>> {
  const pairs = sample.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
  return Object.fromEntries([...pairs].map(([, name = "", value = ""]) => [name, value]));
}
