import { parseYaml } from "../../api/manifest/parse.ts";
import { resolveDocument } from "../../api/manifest/resolve.ts";
import { errorMessage } from "../../util/error-text.ts";
import { apiError, badRequest } from "../api/api-errors.ts";
import { maxRequestValues, tooManyValues } from "../api/object-limits.ts";
import { decodeProtobuf } from "../protobuf/decode-protobuf.ts";
import type { ProtobufMessages } from "../protobuf/protobuf-messages.ts";
import { scanJson } from "./json-scan.ts";
import { parseMediaType } from "./media-type.ts";

/** CRDs, the deepest real objects, stay below 60 levels. */
const maxDepth = 200;
const jsonLimits = { maxDepth, maxValues: maxRequestValues };
/** YAML takes ten microseconds a token, far more than JSON: larger bodies would hold up other clients. */
const yamlLimits = { maxTokens: 25_000, maxAliasNodes: 10_000 };

/** A decoded body. */
export interface ParsedBody {
  readonly value: unknown;
  /** Problems that strict validation refuses, such as `duplicate field "spec.replicas"`. */
  readonly problems: readonly string[];
}

export interface BodyOptions {
  readonly contentType: string | undefined;
  readonly messages: () => ProtobufMessages;
}

/** Decodes a request body; throws KubeErrors. */
export function parseBody(body: Buffer, { contentType, messages }: BodyOptions): ParsedBody {
  const { type } = parseMediaType(contentType ?? "application/json");
  if (type === "application/vnd.kubernetes.protobuf")
    return { value: parseProtobufBody(body, messages()), problems: [] };
  if (type === "application/yaml" || type === "application/apply-patch+yaml") return parseYamlBody(body);
  if (type === "" || type === "application/json" || type.endsWith("+json")) return parseJsonBody(body);
  throw apiError("unsupported-media-type", `the body of the request was in an unknown format - ${acceptedMediaTypes}`);
}

const acceptedMediaTypes =
  "accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf";

function parseProtobufBody(body: Buffer, messages: ProtobufMessages): unknown {
  const decoded = decodeProtobuf(body, messages);
  switch (decoded.kind) {
    case "object":
      return decoded.object;
    case "malformed":
      throw badRequest(`error decoding protobuf: ${decoded.because}`);
    case "unknown-kind":
      throw apiError(
        "unsupported-media-type",
        `protobuf bodies of kind "${decoded.name}" in version "${decoded.apiVersion}" are not supported: send JSON`,
      );
  }
}

function parseJsonBody(body: Buffer): ParsedBody {
  const text = utf8TextOf(body);
  const { isTooDeep, isTooLarge, duplicates } = scanJson(text, jsonLimits);
  if (isTooDeep) throw badRequest(`the body is nested more than ${maxDepth} levels deep`);
  if (isTooLarge) throw tooManyValues();
  try {
    return { value: JSON.parse(text), problems: duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`) };
  } catch (error) {
    throw badRequest(`error decoding JSON: ${errorMessage(error)}`);
  }
}

/** Apply bodies are mostly JSON, which parses much faster than YAML. */
function parseYamlBody(body: Buffer): ParsedBody {
  const text = utf8TextOf(body);
  const json = text.startsWith("{") ? parsedAsJson(text) : undefined;
  if (json !== undefined) return json;
  const parsed = parseYaml(text, yamlLimits);
  if (parsed.kind === "refused") {
    const code = parsed.code === "too-large" ? "too-large" : "bad-request";
    throw apiError(code, `error decoding YAML: ${parsed.because}`);
  }
  const [document, another] = parsed.documents;
  if (document === undefined) throw badRequest("the body is empty");
  if (another !== undefined) throw badRequest("error decoding YAML: the body contains more than one document");
  const [error] = document.errors;
  if (error !== undefined) throw badRequest(`error decoding YAML: ${error.message}`);
  const { value, offsetFindings } = resolveDocument(document, yamlLimits);
  const refused = offsetFindings.find((remark) => remark.severity === "error");
  if (refused !== undefined) throw badRequest(`error decoding YAML: ${refused.message}`);
  return { value, problems: [] };
}

/** Undefined if it is not JSON; YAML in flow style also begins with a brace. */
function parsedAsJson(text: string): ParsedBody | undefined {
  const { isTooDeep, isTooLarge, duplicates } = scanJson(text, jsonLimits);
  if (isTooLarge) throw tooManyValues();
  if (isTooDeep) return undefined;
  try {
    return { value: JSON.parse(text), problems: duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`) };
  } catch {
    return undefined;
  }
}

function utf8TextOf(body: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw badRequest("the body is not UTF-8");
  }
}
