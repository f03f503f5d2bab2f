import { isRecord } from "../object.ts";
import { formatPath, type Path, type Problem } from "../problem.ts";
import type { ConversionMode, ConversionWarning, Move } from "./outcome.ts";

/** A static path: `spec.template.spec`. */
export function at(dotted: string): Path {
  return dotted.split(".");
}

/** The value at a path; null reads as absent, as the API server has it. (01 §0.1) */
export function valueAt(object: unknown, path: Path): unknown {
  let value: unknown = object;
  for (const step of path) {
    if (Array.isArray(value) && typeof step === "number") value = value[step];
    else if (isRecord(value) && Object.hasOwn(value, step)) value = value[step];
    else return undefined;
  }
  return value ?? undefined;
}

/** A value of the source as a message can quote it, whatever it is. */
export function shown(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
}

/** A guess, and what strict mode says instead of making it. */
export interface Assumption extends ConversionWarning {
  readonly instead: Omit<Problem, "path"> & { readonly path?: Path };
}

export interface DraftStart {
  readonly source: unknown;
  readonly mode: ConversionMode;
  /** What the result holds before anything is carried over. */
  readonly object: Record<string, unknown>;
}

/** A v1 object in the making, and everything there is to say about how it came to be. */
export class Draft {
  readonly source: unknown;
  readonly object: Record<string, unknown>;
  readonly moves: Move[] = [];
  readonly warnings: ConversionWarning[] = [];
  readonly problems: Problem[] = [];
  readonly #mode: ConversionMode;

  constructor({ source, mode, object }: DraftStart) {
    this.source = source;
    this.#mode = mode;
    this.object = object;
  }

  /** What the source says there. */
  said(path: Path): unknown {
    return valueAt(this.source, path);
  }

  /** What the result says there so far. */
  says(path: Path): unknown {
    return valueAt(this.object, path);
  }

  /** Takes a field over as it is; whether there was one. */
  carry(from: Path, to: Path): boolean {
    const value = this.said(from);
    if (value === undefined) return false;
    this.put(to, structuredClone(value), from);
    return true;
  }

  /** Takes a field over and away from its old place. */
  move(from: Path, to: Path): boolean {
    const carried = this.carry(from, to);
    if (carried) this.omit(from);
    return carried;
  }

  /** Sets a field, making room for it; `from` tells where its value was written. */
  put(to: Path, value: unknown, from?: Path): void {
    const parent = this.#room(to);
    const key = to.at(-1);
    if (parent === undefined || key === undefined) return;
    if (Array.isArray(parent)) parent[Number(key)] = value;
    else (parent as Record<string, unknown>)[key] = value;
    if (from !== undefined) this.moves.push({ from, to });
  }

  omit(path: Path): void {
    const parent = valueAt(this.object, path.slice(0, -1));
    const key = path.at(-1);
    if (isRecord(parent) && key !== undefined) delete parent[key];
  }

  /** Lossy, but the only reading there is: said in both modes. */
  note(warning: ConversionWarning): void {
    this.warnings.push(warning);
  }

  /** A guess: made in lenient mode with a warning, refused in strict mode. The draft goes on as if made, to find more. */
  assume({ instead, ...warning }: Assumption): void {
    if (this.#mode === "lenient") this.warnings.push(warning);
    else this.problems.push({ path: warning.path, ...instead });
  }

  refuse(problem: Problem): void {
    this.problems.push(problem);
  }

  /** Says why when a field that must be an object is none; absent is for the schema to judge. */
  isObject(path: Path): boolean {
    const value = this.said(path);
    if (value !== undefined && !isRecord(value)) this.#refuseType(path);
    return isRecord(value);
  }

  #room(to: Path): unknown {
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

  #refuseType(path: Path): undefined {
    const known = this.problems.some((one) => one.code === "type" && formatPath(one.path) === formatPath(path));
    if (!known) this.refuse({ code: "type", path, message: "must be an object", expected: "object" });
    return undefined;
  }
}
