import type { ManifestSet } from "../api/manifest/read.ts";
import { isRecord } from "../api/object.ts";
import { shellQuoted } from "./shell-quoted.ts";

/** What to do with sources that must be rendered or fetched before they can be read. */

const urlForm = /^https?:\/\//i;
const kustomizationName = /^kustomization(\.ya?ml)?$/i;

export function isUrl(path: string): boolean {
  return urlForm.test(path);
}

export function urlText(url: string): string {
  const last = url.split("/").pop() ?? "";
  const file = /^[\w.-]+\.(ya?ml|json)$/i.test(last) ? last : "manifest.yaml";
  return `is a URL, and nothing is fetched from the network; fetch it first: curl -fsSL ${shellQuoted(url)} -o ${shellQuoted(file)}, then give -f ${shellQuoted(file)}`;
}

/** Whether a file is a kustomization: instructions for kustomize, not an object. */
export function isKustomization(name: string): boolean {
  return kustomizationName.test(name);
}

/** `hasOption`: the command takes kustomize folders. */
export function kustomizationText(folder: string, { hasOption }: { readonly hasOption: boolean }): string {
  const option = hasOption ? `give -k ${shellQuoted(folder)}, or ` : "";
  return `is a kustomization and is not applied; to apply it, ${option}render it first: kubectl kustomize ${shellQuoted(folder)} > rendered.yaml, then give -f rendered.yaml`;
}

export const chartFileName = "Chart.yaml";

/** `folder` is that of the chart. */
export function chartText(folder: string): string {
  return `is a Helm chart, whose templates must be rendered; render it first: helm template my-release ${shellQuoted(folder)} > rendered.yaml, then give -f rendered.yaml`;
}

/** What only templates of Helm have. */
const helmValue = /\{\{-?\s*[^}]*(\.(Values|Release|Chart|Files|Capabilities)\b|\binclude\s+["`])/;
/** What other templates have too, so it proves nothing where a text is valid YAML. */
const templateAction = /^\s*\{\{-?\s*(if|range|with|end|else|define|template|block|include|\$|\.|\/\*)/;

/** The line of the first expression of a Helm template, counted from one; undefined if the text is not one. */
export function helmTemplateLine(text: string, { documents, findings }: ManifestSet): number | undefined {
  if (!text.includes("{{")) return undefined;
  const isValid = findings.every(({ severity }) => severity !== "error");
  if (isValid && !documents.some(({ object }) => holdsExpression(object))) return undefined;
  const lines = text.split("\n");
  const found = lines.findIndex((line) => helmValue.test(line) || (!isValid && templateAction.test(line)));
  return found < 0 ? undefined : found + 1;
}

/** ConfigMaps and Secrets may hold templates of others as text. `{{ .Values.a }}` without quotes is a map with a map as key. */
function holdsExpression(object: unknown): boolean {
  if (isRecord(object) && (object["kind"] === "ConfigMap" || object["kind"] === "Secret")) return false;
  if (typeof object === "string") return helmValue.test(object);
  if (typeof object !== "object" || object === null) return false;
  return Object.entries(object).some(([key, value]) => key.startsWith("{") || holdsExpression(value));
}

export function helmTemplateText(source: string): string {
  const [, chart] = /^(.*?)\/?templates\//.exec(source) ?? [];
  const folder = chart === undefined ? "CHART" : chart === "" ? "." : chart;
  return `is a Helm template, not a manifest; render it first: helm template my-release ${shellQuoted(folder)} > rendered.yaml, then give -f rendered.yaml`;
}
