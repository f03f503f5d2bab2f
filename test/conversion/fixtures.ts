import { readFileSync } from "node:fs";
import { Admission } from "../../src/api/admission.ts";
import type { Conversion, ConversionOptions } from "../../src/api/conversion/conversion.ts";
import { toV1 } from "../../src/api/conversion/to-v1.ts";
import type { ManifestDocument } from "../../src/api/manifest/document.ts";
import { readManifests } from "../../src/api/manifest/read.ts";
import { formatPath } from "../../src/api/problem.ts";

/** M1 to M18 of 01 §7.9, as the documents show them. */
export const seedNames = Array.from({ length: 18 }, (_, index) => `M${String(index + 1).padStart(2, "0")}`);

export function seedText(name: string): string {
  return readFileSync(new URL(`../fixtures/seeds/${name}.yaml`, import.meta.url), "utf8");
}

export function seed(name: string): ManifestDocument {
  return only(readManifests(seedText(name), `${name}.yaml`).documents);
}

export function only<T>(items: readonly T[]): T {
  const [first] = items;
  if (first === undefined || items.length !== 1) throw new Error(`expected one, got ${items.length}`);
  return first;
}

/** YAML text of one object as a plain value. */
export function object(text: string): Record<string, unknown> {
  const { documents, findings } = readManifests(text, "test.yaml");
  if (findings.length > 0) throw new Error(JSON.stringify(findings));
  return only(documents).object as Record<string, unknown>;
}

/** The spec, or any other field, of the one object a conversion yields. */
export function converted(source: unknown, options: Partial<ConversionOptions> = {}): Record<string, unknown> {
  const conversion = toV1([source], { mode: "lenient", ...options });
  if (conversion.problems.length > 0) throw new Error(JSON.stringify(conversion.problems));
  return only(conversion.objects).object as Record<string, unknown>;
}

export function warnings(conversion: Conversion): readonly string[] {
  return conversion.warnings.map(({ code, path }) => `${code} ${formatPath(path)}`);
}

export function problems(conversion: Conversion): readonly string[] {
  return conversion.problems.map(({ code, path }) => `${code} ${formatPath(path)}`);
}

const admission = new Admission("all");

/** As the API server would store it; throws when it would not. */
export function stored(source: unknown): unknown {
  const admitted = admission.admit(source, { strict: true });
  if (admitted.problems.length > 0) throw new Error(JSON.stringify(admitted.problems));
  return admitted.object;
}
