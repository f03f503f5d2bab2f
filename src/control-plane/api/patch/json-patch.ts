import { copyJson, isSameJson, setOwnKey } from "../../../api/json.ts";
import { isRecord } from "../../../api/object.ts";
import type { JsonObject } from "../../kinds/object-draft.ts";
import { apiError, badRequest } from "../api-errors.ts";

/** The limit of Kubernetes on operations in a patch. */
const maxOperations = 10_000;

type Parent = { readonly in: JsonObject; readonly key: string } | { readonly in: unknown[]; readonly key: string };

/** RFC 6902: all operations succeed or none is applied. The target is not changed. */
export function jsonPatch(target: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) throw badRequest("error decoding patch: a JSON patch must be a list of operations");
  if (operations.length > maxOperations) {
    throw apiError("too-large", `The allowed maximum operations in a JSON patch is ${maxOperations}`);
  }
  const root = { "": copyJson(target) };
  for (const operation of operations) apply(root, operation);
  return root[""];
}

function apply(root: JsonObject, operation: unknown): void {
  if (!isRecord(operation)) throw badRequest("error decoding patch: an operation must be an object");
  const { op, path, from, value } = operation;
  if (typeof path !== "string") throw badRequest("error decoding patch: an operation must have a path");
  switch (op) {
    case "add":
      add(root, path, given(operation));
      return;
    case "remove":
      remove(root, path);
      return;
    case "replace":
      replace(root, path, given(operation));
      return;
    case "move": {
      if (typeof from !== "string") throw badRequest("error decoding patch: a move operation must have a from");
      if (path.startsWith(`${from}/`)) throw unprocessable(`cannot move ${from} into itself`);
      add(root, path, remove(root, from));
      return;
    }
    case "copy":
      if (typeof from !== "string") throw badRequest("error decoding patch: a copy operation must have a from");
      add(root, path, copyJson(read(root, from)));
      return;
    case "test":
      if (!isSameJson(read(root, path), value ?? null)) throw unprocessable(`testing value ${path} failed`);
      return;
    default:
      throw badRequest(`unknown operation ${JSON.stringify(op)?.slice(0, 40)} in a JSON patch`);
  }
}

function given(operation: JsonObject): unknown {
  if (!Object.hasOwn(operation, "value"))
    throw badRequest("error decoding patch: an add or replace operation must have a value");
  return copyJson(operation["value"]);
}

function add(root: JsonObject, path: string, value: unknown): void {
  const { in: parent, key } = parentOf(root, path);
  if (!Array.isArray(parent)) setOwnKey(parent, key, value);
  else parent.splice(key === "-" ? parent.length : indexOf(key, parent.length, path), 0, value);
}

function replace(root: JsonObject, path: string, value: unknown): void {
  read(root, path);
  const { in: parent, key } = parentOf(root, path);
  if (Array.isArray(parent)) parent[indexOf(key, parent.length - 1, path)] = value;
  else setOwnKey(parent, key, value);
}

function remove(root: JsonObject, path: string): unknown {
  const value = read(root, path);
  const { in: parent, key } = parentOf(root, path);
  if (Array.isArray(parent)) parent.splice(indexOf(key, parent.length - 1, path), 1);
  else delete parent[key];
  return value;
}

function read(root: JsonObject, path: string): unknown {
  const { in: parent, key } = parentOf(root, path);
  if (Array.isArray(parent)) return parent[indexOf(key, parent.length - 1, path)];
  if (!Object.hasOwn(parent, key)) throw unprocessable(`path ${path} does not exist`);
  return parent[key];
}

function parentOf(root: JsonObject, path: string): Parent {
  if (path !== "" && !path.startsWith("/"))
    throw badRequest(`${JSON.stringify(path.slice(0, 80))} is not a JSON pointer`);
  const steps = path.split("/").map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  let at: unknown = root;
  for (const step of steps.slice(0, -1)) {
    if (Array.isArray(at)) at = at[indexOf(step, at.length - 1, path)];
    else if (isRecord(at) && Object.hasOwn(at, step)) at = at[step];
    else throw unprocessable(`path ${path} does not exist`);
  }
  const key = steps.at(-1) ?? "";
  if (Array.isArray(at)) return { in: at, key };
  if (isRecord(at)) return { in: at, key };
  throw unprocessable(`path ${path} does not exist`);
}

function indexOf(step: string, max: number, path: string): number {
  const index = /^(0|[1-9]\d{0,9})$/.test(step) ? Number(step) : -1;
  if (index < 0 || index > max) throw unprocessable(`path ${path} does not exist`);
  return index;
}

function unprocessable(because: string): Error {
  return apiError("invalid", `the server rejected our request due to an error in our request: ${because}`);
}
