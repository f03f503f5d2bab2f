import { isRecord } from "../object.ts";
import { type FieldPath, formatPath, type Problem } from "../problem.ts";
import type { ConversionMode, ConversionWarning, FieldMove } from "./conversion.ts";

/** A static path: `spec.template.spec`. */
export function fieldPath(dotted: string): FieldPath {
  return dotted.split(".");
}

/** The value at a path; null counts as absent, as in the API server. (01 §0.1) */
export function valueAt(object: unknown, path: FieldPath): unknown {
  let value: unknown = object;
  for (const step of path) {
    if (Array.isArray(value) && typeof step === "number") value = value[step];
    else if (isRecord(value) && Object.hasOwn(value, step)) value = value[step];
    else return undefined;
  }
  return value ?? undefined;
}

/** A value of the source as text for a message. */
export function valueText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
}

/** An assumption, and the problem strict mode reports instead. */
export interface Assumption extends ConversionWarning {
  readonly strictProblem: Omit<Problem, "path"> & { readonly path?: FieldPath };
}

export interface ConversionDraftOptions {
  readonly source: unknown;
  readonly mode: ConversionMode;
  /** The initial content of the result. */
  readonly object: Record<string, unknown>;
}

/** A v1 object being built from an older one, with the warnings and problems found on the way. */
export class ConversionDraft {
  readonly source: unknown;
  readonly object: Record<string, unknown>;
  readonly moves: FieldMove[] = [];
  readonly warnings: ConversionWarning[] = [];
  readonly problems: Problem[] = [];
  readonly #mode: ConversionMode;

  constructor({ source, mode, object }: ConversionDraftOptions) {
    this.source = source;
    this.#mode = mode;
    this.object = object;
  }

  /** The source's value at a path. */
  sourceValue(path: FieldPath): unknown {
    return valueAt(this.source, path);
  }

  /** The result's current value at a path. */
  resultValue(path: FieldPath): unknown {
    return valueAt(this.object, path);
  }

  /** Copies a field; returns whether there was one. */
  copyField(from: FieldPath, to: FieldPath): boolean {
    const value = this.sourceValue(from);
    if (value === undefined) return false;
    this.setField(to, structuredClone(value), from);
    return true;
  }

  /** Moves a field to another path. */
  moveField(from: FieldPath, to: FieldPath): boolean {
    const carried = this.copyField(from, to);
    if (carried) this.removeField(from);
    return carried;
  }

  /** Sets a field and creates its parents; `from` is where its value was written. */
  setField(to: FieldPath, value: unknown, from?: FieldPath): void {
    const parent = this.#parentFor(to);
    const key = to.at(-1);
    if (parent === undefined || key === undefined) return;
    if (Array.isArray(parent)) parent[Number(key)] = value;
    else (parent as Record<string, unknown>)[key] = value;
    if (from !== undefined) this.moves.push({ from, to });
  }

  removeField(path: FieldPath): void {
    const parent = valueAt(this.object, path.slice(0, -1));
    const key = path.at(-1);
    if (isRecord(parent) && key !== undefined) delete parent[key];
  }

  /** A lossy step without alternative: a warning in both modes. */
  warn(warning: ConversionWarning): void {
    this.warnings.push(warning);
  }

  /** An assumption: a warning in lenient mode, a problem in strict mode. Conversion continues either way, to find more problems. */
  assume({ strictProblem, ...warning }: Assumption): void {
    if (this.#mode === "lenient") this.warnings.push(warning);
    else this.problems.push({ path: warning.path, ...strictProblem });
  }

  addProblem(problem: Problem): void {
    this.problems.push(problem);
  }

  /** Reports a field that must be an object and is not; absent ones are left to the schema. */
  checkIsObject(path: FieldPath): boolean {
    const value = this.sourceValue(path);
    if (value !== undefined && !isRecord(value)) this.#refuseType(path);
    return isRecord(value);
  }

  #parentFor(to: FieldPath): unknown {
    let parent: unknown = this.object;
    for (const [depth, step] of to.slice(0, -1).entries()) {
      if (!isRecord(parent) && !Array.isArray(parent)) return undefined;
      const holder = parent as Record<string | number, unknown>;
      const next: unknown = Object.hasOwn(holder, step) ? holder[step] : undefined;
      if (next === undefined || next === null) holder[step] = {};
      else if (typeof next !== "object") return this.#refuseType(to.slice(0, depth + 1));
      parent = holder[step];
    }
    return parent;
  }

  #refuseType(path: FieldPath): undefined {
    const known = this.problems.some((one) => one.code === "type" && formatPath(one.path) === formatPath(path));
    if (!known) this.addProblem({ code: "type", path, message: "must be an object", expected: "object" });
    return undefined;
  }
}
