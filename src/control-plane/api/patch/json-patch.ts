import { copyJson, isSameJson, setOwnKey } from "../../../api/json.ts";
import { isRecord } from "../../../api/object.ts";
import type { JsonObject } from "../../kinds/object-draft.ts";
import { measureJson } from "../../store/json-measure.ts";
import { apiError, badRequest } from "../api-errors.ts";
import { maxNesting, maxRequestBytes } from "../object-limits.ts";

/** The limit of Kubernetes on operations in a patch. */
const maxOperations = 10_000;

/** How many list items a patch may shift in total by inserting and removing; each shift is cheap, millions are not. */
const maxShiftedItems = 50_000_000;

type Parent = { readonly in: JsonObject; readonly key: string } | { readonly in: unknown[]; readonly key: string };

/** RFC 6902: all operations succeed or none is applied. The target is not changed. */
export function jsonPatch(target: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) throw badRequest("error decoding patch: a JSON patch must be a list of operations");
  if (operations.length > maxOperations) {
    const message = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`;
    throw apiError("too-large", message);
  }
  const patched = new PatchedValue(target);
  for (const operation of operations) patched.apply(operation);
  return patched.value;
}

/** The value while operations are applied. What copies and shifts may cost in total is bounded. (05:CP-S3) */
class PatchedValue {
  readonly #root: JsonObject;
  #copiedBytes = 0;
  #shiftedItems = 0;

  constructor(target: unknown) {
    this.#root = { "": copyJson(target) };
  }

  get value(): unknown {
    return this.#root[""];
  }

  apply(operation: unknown): void {
    if (!isRecord(operation)) throw badRequest("error decoding patch: an operation must be an object");
    const { op, path, value } = operation;
    if (typeof path !== "string") throw badRequest("error decoding patch: an operation must have a path");
    switch (op) {
      case "add":
        this.#add(path, valueIn(operation));
        return;
      case "remove":
        this.#remove(path);
        return;
      case "replace":
        this.#replace(path, valueIn(operation));
        return;
      case "move": {
        const from = fromOf(operation);
        if (path.startsWith(`${from}/`)) throw unprocessable(`cannot move ${shortPath(from)} into itself`);
        this.#add(path, this.#remove(from));
        return;
      }
      case "copy":
        this.#add(path, this.#copy(fromOf(operation)));
        return;
      case "test":
        if (!isSameJson(readIfPresent(this.#root, path), value ?? null))
          throw unprocessable(`testing value ${shortPath(path)} failed`);
        return;
      default:
        throw badRequest(`unknown operation ${JSON.stringify(op)?.slice(0, 40)} in a JSON patch`);
    }
  }

  /** A few operations that copy the copies of others would double the value each time. */
  #copy(from: string): unknown {
    const value = read(this.#root, from);
    const { bytes, isTooDeep } = measureJson(value, { maxDepth: maxNesting });
    if (isTooDeep) throw badRequest(`the object is nested too deeply: the limit is ${maxNesting} levels`);
    this.#copiedBytes += bytes;
    if (this.#copiedBytes > maxRequestBytes) {
      const grown = `the accumulated size increase of copy is ${this.#copiedBytes}, exceeding the limit ${maxRequestBytes}`;
      throw unprocessable(`Unable to complete the copy, ${grown}`);
    }
    return copyJson(value);
  }

  #add(path: string, value: unknown): void {
    const { in: parent, key } = parentOf(this.#root, path);
    if (!Array.isArray(parent)) setOwnKey(parent, key, value);
    else if (key === "-") parent.push(value);
    else {
      const index = indexOf(key, parent.length, path);
      this.#shift(parent.length - index);
      parent.splice(index, 0, value);
    }
  }

  #replace(path: string, value: unknown): void {
    read(this.#root, path);
    const { in: parent, key } = parentOf(this.#root, path);
    if (Array.isArray(parent)) parent[indexOf(key, parent.length - 1, path)] = value;
    else setOwnKey(parent, key, value);
  }

  #remove(path: string): unknown {
    const value = read(this.#root, path);
    const { in: parent, key } = parentOf(this.#root, path);
    if (!Array.isArray(parent)) delete parent[key];
    else {
      const index = indexOf(key, parent.length - 1, path);
      this.#shift(parent.length - index);
      parent.splice(index, 1);
    }
    return value;
  }

  #shift(items: number): void {
    this.#shiftedItems += items;
    if (this.#shiftedItems > maxShiftedItems)
      throw apiError("too-large", `The JSON patch shifts more than ${maxShiftedItems} items of lists`);
  }
}

function valueIn(operation: JsonObject): unknown {
  if (!Object.hasOwn(operation, "value"))
    throw badRequest("error decoding patch: an add or replace operation must have a value");
  return copyJson(operation["value"]);
}

function fromOf({ op, from }: JsonObject): string {
  if (typeof from !== "string") throw badRequest(`error decoding patch: a ${String(op)} operation must have a from`);
  return from;
}

function read(root: JsonObject, path: string): unknown {
  const { in: parent, key } = parentOf(root, path);
  if (Array.isArray(parent)) return parent[indexOf(key, parent.length - 1, path)];
  if (!Object.hasOwn(parent, key)) throw unprocessable(`path ${shortPath(path)} does not exist`);
  return parent[key];
}

/** As Kubernetes tests a value: a key that is not there is null. */
function readIfPresent(root: JsonObject, path: string): unknown {
  const { in: parent, key } = parentOf(root, path);
  return Array.isArray(parent)
    ? parent[indexOf(key, parent.length - 1, path)]
    : Object.hasOwn(parent, key)
      ? parent[key]
      : null;
}

function parentOf(root: JsonObject, path: string): Parent {
  if (path !== "" && !path.startsWith("/"))
    throw badRequest(`${JSON.stringify(path.slice(0, 80))} is not a JSON pointer`);
  const steps = path.split("/").map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  let at: unknown = root;
  for (const step of steps.slice(0, -1)) {
    if (Array.isArray(at)) at = at[indexOf(step, at.length - 1, path)];
    else if (isRecord(at) && Object.hasOwn(at, step)) at = at[step];
    else throw unprocessable(`path ${shortPath(path)} does not exist`);
  }
  const key = steps.at(-1) ?? "";
  if (Array.isArray(at)) return { in: at, key };
  if (isRecord(at)) return { in: at, key };
  throw unprocessable(`path ${shortPath(path)} does not exist`);
}

function indexOf(step: string, max: number, path: string): number {
  const index = /^(0|[1-9]\d{0,9})$/.test(step) ? Number(step) : -1;
  if (index < 0 || index > max) throw unprocessable(`path ${shortPath(path)} does not exist`);
  return index;
}

function shortPath(path: string): string {
  return path.length > 200 ? `${path.slice(0, 197)}...` : path;
}

function unprocessable(because: string): Error {
  return apiError("invalid", `the server rejected our request due to an error in our request: ${because}`);
}
