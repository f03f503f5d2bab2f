import type { KubeObject } from "../../api/object.ts";
import { badRequest, failure } from "../api/failures.ts";
import type { ServedKind } from "../kinds/kind.ts";
import { apiVersionOf } from "../kinds/registry.ts";
import type { Serialised } from "../store/serialised.ts";
import type { Printer } from "../tables/column.ts";
import { customPrinter } from "../tables/custom.ts";
import { builtinPrinter } from "../tables/printers.ts";
import { type IncludeObject, includeObjectModes, tableOf } from "../tables/table.ts";
import { type Representation, representation } from "./accept.ts";
import { listBytes } from "./encode.ts";
import type { ShowEvent } from "./watch-stream.ts";

/** How this client wants to see objects of this kind. */
export interface View {
  readonly kind: ServedKind;
  readonly as: Exclude<Representation, { kind: "discovery" }>;
  readonly includeObject: IncludeObject;
  readonly now: () => number;
  readonly serialised: Serialised;
}

/** The representation the Accept header asks for; 406 where we have none of them. */
export function acceptedView(accept: string | undefined): View["as"] {
  const asked = representation(accept);
  if (asked === undefined || asked.kind === "discovery") {
    throw failure(
      "not-acceptable",
      "only the following media types are accepted: application/json, " +
        "application/json;as=Table;g=meta.k8s.io;v=v1, application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    );
  }
  return asked;
}

export function includeObjectOf(query: URLSearchParams): IncludeObject {
  const written = query.get("includeObject") ?? "";
  if (written === "") return "Metadata";
  const found = includeObjectModes.find((mode) => mode === written);
  if (found === undefined)
    throw badRequest(`includeObject: Unsupported value: ${JSON.stringify(written.slice(0, 40))}`);
  return found;
}

export function printerOf(kind: ServedKind): Printer {
  return kind.custom === undefined ? builtinPrinter(kind) : customPrinter(kind.custom.columns);
}

/** One object. */
export function showObject(object: KubeObject, view: View): Uint8Array {
  const { as, serialised } = view;
  switch (as.kind) {
    case "json":
      return serialised.of(object);
    case "table": {
      const metadata = { resourceVersion: object.metadata.resourceVersion };
      return bytesOf(table([object], { view, apiVersion: as.apiVersion, metadata, withHeader: true }));
    }
    case "metadata":
      return bytesOf(partial(object, as.apiVersion));
  }
}

export interface ListMetadata {
  readonly resourceVersion: string;
  readonly continue?: string | undefined;
  readonly remainingItemCount?: number | undefined;
}

/** A page of a list. */
export function showList(items: readonly KubeObject[], metadata: ListMetadata, view: View): Uint8Array {
  const { as, kind, serialised } = view;
  switch (as.kind) {
    case "json":
      return listBytes(items, { head: { kind: kind.listKind, apiVersion: apiVersionOf(kind), metadata }, serialised });
    case "table":
      return bytesOf(table(items, { view, apiVersion: as.apiVersion, metadata, withHeader: true }));
    case "metadata": {
      const { apiVersion } = as;
      const partials = items.map((item) => partial(item, apiVersion));
      return bytesOf({ kind: "PartialObjectMetadataList", apiVersion, metadata, items: partials });
    }
  }
}

/** The events of a watch; of a watch as tables only the first defines the columns. (05 §1) */
export function eventView(view: View): ShowEvent {
  const { as, serialised } = view;
  if (as.kind === "json") return ({ object }) => serialised.of(object);
  const { apiVersion } = as;
  if (as.kind === "metadata") return ({ object }) => bytesOf(partial(object, apiVersion));
  let isFirst = true;
  return ({ object }) => {
    const metadata = { resourceVersion: object.metadata.resourceVersion };
    const shown = bytesOf(table([object], { view, apiVersion, metadata, withHeader: isFirst }));
    isFirst = false;
    return shown;
  };
}

interface TableRequest {
  readonly view: View;
  readonly apiVersion: string;
  readonly metadata: object;
  readonly withHeader: boolean;
}

function table(items: readonly KubeObject[], { view, apiVersion, metadata, withHeader }: TableRequest): unknown {
  const { kind, includeObject, now } = view;
  return tableOf(items, {
    printer: printerOf(kind),
    includeObject,
    now: now(),
    apiVersion,
    withHeader,
    metadata: { ...metadata },
  });
}

function partial({ metadata }: KubeObject, apiVersion: string): unknown {
  return { kind: "PartialObjectMetadata", apiVersion, metadata };
}

function bytesOf(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
