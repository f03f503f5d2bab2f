import type { KubeObject } from "../../api/object.ts";
import { apiVersionOf } from "../../kube/resources.ts";
import { badRequest, notAcceptable } from "../api/api-errors.ts";
import type { ServedKind } from "../kinds/served-kind.ts";
import type { ObjectBytesCache } from "../store/object-bytes-cache.ts";
import { builtInPrinter } from "../tables/built-in-printer.ts";
import { customPrinter } from "../tables/custom-printer.ts";
import { type IncludeObject, includeObjectModes, tableOf } from "../tables/table.ts";
import type { Printer } from "../tables/table-column.ts";
import { listParts } from "./encode.ts";
import { acceptedRepresentation, type Representation } from "./media-type.ts";
import type { EncodeEvent } from "./watch-stream.ts";

/** The representation a client asked for. */
export interface ResponseFormat {
  readonly kind: ServedKind;
  readonly as: Exclude<Representation, { kind: "discovery" }>;
  readonly includeObject: IncludeObject;
  readonly now: () => number;
  readonly objectBytes: ObjectBytesCache;
}

/** The representation the Accept header asks for; throws 406 if we support none of them. */
export function acceptedFormat(accept: string | undefined): ResponseFormat["as"] {
  const accepted = acceptedRepresentation(accept);
  if (accepted === undefined || accepted.kind === "discovery") {
    throw notAcceptable([
      "application/json",
      "application/json;as=Table;g=meta.k8s.io;v=v1",
      "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    ]);
  }
  return accepted;
}

export function includeObjectOf(query: URLSearchParams): IncludeObject {
  const written = query.get("includeObject") ?? "";
  if (written === "") return "Metadata";
  const found = includeObjectModes.find((mode) => mode === written);
  if (found === undefined)
    throw badRequest(`includeObject: Unsupported value: ${JSON.stringify(written.slice(0, 40))}`);
  return found;
}

function printerOf(kind: ServedKind): Printer {
  return kind.custom === undefined ? builtInPrinter(kind) : customPrinter(kind.custom.columns);
}

/** Encodes one object. */
export function encodeObject(object: KubeObject, format: ResponseFormat): Uint8Array {
  const { as, objectBytes } = format;
  switch (as.kind) {
    case "json":
      return objectBytes.of(object);
    case "table": {
      const metadata = { resourceVersion: object.metadata.resourceVersion };
      return bytesOf(tableResponse([object], { format, apiVersion: as.apiVersion, metadata, withHeader: true }));
    }
    case "metadata":
      return bytesOf(partialObjectMetadata(object, as.apiVersion));
  }
}

export interface ListMetadata {
  readonly resourceVersion: string;
  readonly continue?: string | undefined;
  readonly remainingItemCount?: number | undefined;
}

/** Encodes a page of a list. */
export function encodeList(
  items: readonly KubeObject[],
  metadata: ListMetadata,
  format: ResponseFormat,
): Iterable<Uint8Array> {
  const { as, kind, objectBytes } = format;
  switch (as.kind) {
    case "json":
      return listParts(items, {
        head: { kind: kind.listKind, apiVersion: apiVersionOf(kind), metadata },
        objectBytes,
      });
    case "table":
      return [bytesOf(tableResponse(items, { format, apiVersion: as.apiVersion, metadata, withHeader: true }))];
    case "metadata": {
      const { apiVersion } = as;
      const partials = items.map((item) => partialObjectMetadata(item, apiVersion));
      return [bytesOf({ kind: "PartialObjectMetadataList", apiVersion, metadata, items: partials })];
    }
  }
}

/** Encodes watch events; only the first Table of a watch carries the column definitions. (05 §1) */
export function eventEncoder(format: ResponseFormat): EncodeEvent {
  const { as, objectBytes } = format;
  if (as.kind === "json") return ({ object }) => objectBytes.of(object);
  const { apiVersion } = as;
  if (as.kind === "metadata") return ({ object }) => bytesOf(partialObjectMetadata(object, apiVersion));
  let isFirst = true;
  return ({ object }) => {
    const metadata = { resourceVersion: object.metadata.resourceVersion };
    const encoded = bytesOf(tableResponse([object], { format, apiVersion, metadata, withHeader: isFirst }));
    isFirst = false;
    return encoded;
  };
}

interface TableRequest {
  readonly format: ResponseFormat;
  readonly apiVersion: string;
  readonly metadata: object;
  readonly withHeader: boolean;
}

function tableResponse(
  items: readonly KubeObject[],
  { format, apiVersion, metadata, withHeader }: TableRequest,
): unknown {
  const { kind, includeObject, now } = format;
  return tableOf(items, {
    printer: printerOf(kind),
    includeObject,
    now: now(),
    apiVersion,
    withHeader,
    metadata: { ...metadata },
  });
}

function partialObjectMetadata({ metadata }: KubeObject, apiVersion: string): unknown {
  return { kind: "PartialObjectMetadata", apiVersion, metadata };
}

function bytesOf(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
