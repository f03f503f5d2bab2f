/** One media type of an Accept or Content-Type header. */
export interface MediaType {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
}

export function parseMediaType(text: string): MediaType {
  const [type = "", ...rest] = text.split(";");
  const parameters = rest.flatMap((part) => {
    const at = part.indexOf("=");
    if (at < 0) return [];
    return [
      [
        part.slice(0, at).trim().toLowerCase(),
        part
          .slice(at + 1)
          .trim()
          .replace(/^"(.*)"$/, "$1"),
      ] as const,
    ];
  });
  return { type: type.trim().toLowerCase(), parameters: Object.fromEntries(parameters) };
}

/** The representation of a response. */
export type Representation =
  | { readonly kind: "json" }
  | { readonly kind: "table"; readonly apiVersion: string }
  | { readonly kind: "metadata"; readonly apiVersion: string }
  | { readonly kind: "discovery"; readonly version: string };

/**
 * The first accepted type we support; undefined if there is none. We read protobuf but do not write it; clients that
 * ask for it also accept JSON. (05 §1)
 */
export function acceptedRepresentation(accept: string | undefined): Representation | undefined {
  if (accept === undefined || accept.trim() === "") return { kind: "json" };
  for (const part of accept.split(",")) {
    const found = representationOf(parseMediaType(part));
    if (found !== undefined) return found;
  }
  return undefined;
}

function representationOf({ type, parameters }: MediaType): Representation | undefined {
  const isJson = type === "application/json" || type === "application/*" || type === "*/*";
  if (!isJson || (parameters["stream"] !== undefined && parameters["stream"] !== "watch")) return undefined;
  const { as, g: group, v: version = "v1" } = parameters;
  const apiVersion = `${group}/${version}`;
  switch (as) {
    case undefined:
      return { kind: "json" };
    case "Table":
      return group === "meta.k8s.io" && /^v1(beta1)?$/.test(version) ? { kind: "table", apiVersion } : undefined;
    case "PartialObjectMetadata":
    case "PartialObjectMetadataList":
      return group === "meta.k8s.io" ? { kind: "metadata", apiVersion } : undefined;
    case "APIGroupDiscoveryList":
      return group === "apidiscovery.k8s.io" && version === "v2" ? { kind: "discovery", version } : undefined;
    default:
      return undefined;
  }
}

/** Accepted for OpenAPI v2 as protobuf; the spelling with `@` is that of clients since the beginning. */
const openApiProtobuf: ReadonlySet<string> = new Set([
  "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
  "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
]);

/** The form of the OpenAPI v2 document that is accepted first; undefined if there is none. */
export function acceptedOpenApiV2(accept: string | undefined): "json" | "protobuf" | undefined {
  if (accept === undefined || accept.trim() === "") return "json";
  for (const part of accept.split(",")) {
    const { type } = parseMediaType(part);
    if (openApiProtobuf.has(type)) return "protobuf";
    if (type === "application/json" || type === "application/*" || type === "*/*") return "json";
  }
  return undefined;
}
