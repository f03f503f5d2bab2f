import { apiGroupOf, isRecord, type KubeObject } from "../../../api/object.ts";
import { memberAt, type PatchOperation, pointerTokens } from "../json-patch.ts";
import type { OwnerKey } from "./template-owner.ts";

/** Changes an object in place. */
export function patchCommand(object: KubeObject, operations: readonly PatchOperation[]): string {
  return `kubectl patch ${targetText(object)} ${patchText(object, operations)}`;
}

/** Replaces an object whose fields cannot be changed: it is deleted, and created anew with the change. */
export function replaceCommand(object: KubeObject, operations: readonly PatchOperation[]): string {
  const changed = `kubectl patch ${targetText(object)} ${patchText(object, operations)} --dry-run=client -o json`;
  return `${changed} | kubectl replace --force -f -`;
}

export function deleteCommand(reference: OwnerKey): string {
  return `kubectl delete ${referenceText(reference)}`;
}

/** JSON is YAML, and one line. */
export function createCommand(object: unknown): string {
  return `echo ${shellQuoted(JSON.stringify(object))} | kubectl apply -f -`;
}

/** `deployment web -n shop`. */
export function referenceText({ apiVersion, kind, name, namespace }: OwnerKey): string {
  return `${resourceText(apiVersion, kind)} ${name}${namespace === "" ? "" : ` -n ${namespace}`}`;
}

function targetText({ apiVersion, kind, metadata: { name = "", namespace = "" } }: KubeObject): string {
  return referenceText({ apiVersion, kind, name, namespace });
}

/** Kinds of other groups could have a namesake: their group is named too. */
function resourceText(apiVersion: string, kind: string): string {
  const group = apiGroupOf(apiVersion);
  const isKnown = ["", "apps", "batch", "storage.k8s.io"].includes(group) || group.startsWith("karpenter.");
  return isKnown ? kind.toLowerCase() : `${kind.toLowerCase()}.${group}`;
}

/** A merge patch reads best; what happens inside of lists needs a JSON patch. */
function patchText(object: KubeObject, operations: readonly PatchOperation[]): string {
  const merged = mergePatchOf(object, operations);
  return merged === undefined
    ? `--type=json -p ${shellQuoted(JSON.stringify(operations))}`
    : `--type=merge -p ${shellQuoted(JSON.stringify(merged))}`;
}

function mergePatchOf(object: KubeObject, operations: readonly PatchOperation[]): unknown {
  let merged: Record<string, unknown> = {};
  for (const { op, path, value } of operations) {
    const tokens = pointerTokens(path);
    if (passesList(object, tokens)) return undefined;
    // A merge patch would keep what a replaced map has besides.
    if (isRecord(value) && op === "replace") return undefined;
    merged = withValue(merged, tokens, op === "remove" ? null : value);
  }
  return merged;
}

function passesList(object: KubeObject, tokens: readonly string[]): boolean {
  let here: unknown = object;
  for (const token of tokens) {
    if (Array.isArray(here) || token === "-") return true;
    here = memberAt(here, token);
  }
  return false;
}

function withValue(into: Record<string, unknown>, [head = "", ...rest]: readonly string[], value: unknown) {
  const inner = into[head];
  const set: unknown = rest.length === 0 ? value : withValue(isRecord(inner) ? inner : {}, rest, value);
  return { ...into, [head]: set };
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
