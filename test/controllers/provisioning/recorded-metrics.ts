import { type Metrics, noMetrics } from "../../../src/controllers/metrics/metrics.ts";

type Labels = Readonly<Record<string, string>>;

/** Everything that was reported, to look things up in. */
export class RecordedMetrics implements Metrics {
  readonly #values = new Map<string, number>();
  readonly observations: { readonly name: string; readonly labels: Labels; readonly value: number }[] = [];
  readonly collect = noMetrics.collect;
  readonly family = noMetrics.family;
  readonly forgetLabel = noMetrics.forgetLabel;

  count(name: string, labels: Labels, by = 1): void {
    const key = keyOf(name, labels);
    this.#values.set(key, (this.#values.get(key) ?? 0) + by);
  }

  set(name: string, labels: Labels, value: number): void {
    this.#values.set(keyOf(name, labels), value);
  }

  observe(name: string, labels: Labels, value: number): void {
    this.observations.push({ name, labels, value });
  }

  forget(name: string, labels: Partial<Labels>): void {
    for (const key of [...this.#values.keys()]) {
      const [of, its] = JSON.parse(key) as [string, [string, string][]];
      const has = new Map(its);
      if (of === name && Object.entries(labels).every(([label, value]) => has.get(label) === value)) {
        this.#values.delete(key);
      }
    }
  }

  value(name: string, labels: Labels = {}): number | undefined {
    return this.#values.get(keyOf(name, labels));
  }

  /** Series of a gauge or counter, as `label=value` lists. */
  series(name: string): Readonly<Record<string, number>> {
    const found: Record<string, number> = {};
    for (const [key, value] of this.#values) {
      const [of, labels] = JSON.parse(key) as [string, [string, string][]];
      if (of === name) found[labels.map((pair) => pair.join("=")).join(",")] = value;
    }
    return found;
  }

  observed(name: string): readonly number[] {
    return this.observations.filter((one) => one.name === name).map(({ value }) => value);
  }
}

function keyOf(name: string, labels: Labels): string {
  return JSON.stringify([name, Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
}
