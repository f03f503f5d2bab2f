import { createHash } from "node:crypto";
import type { ServedKind } from "../kinds/served-kind.ts";
import { BuiltInSchemas } from "./built-in-schemas.ts";
import { openApiDocument } from "./openapi-document.ts";
import { openApiV2Document } from "./openapi-v2-document.ts";
import { encodeOpenApiV2 } from "./openapi-v2-protobuf.ts";

/** A document as it is sent; its hash changes with it. */
interface OpenApiBytes {
  readonly bytes: Buffer;
  readonly hash: string;
}

interface CachedDocument extends OpenApiBytes {
  readonly kinds: readonly ServedKind[];
}

export type OpenApiV2Format = "json" | "protobuf";

/** The OpenAPI documents of all group-versions, built on first request and again when their kinds change. */
export class OpenApiCatalogue {
  readonly #written = new Map<string, CachedDocument>();
  readonly #builtIns = new BuiltInSchemas();

  /** The index of documents; the hash in each URL lets clients cache it. */
  index(kinds: readonly ServedKind[]): unknown {
    const paths = [...new Set(kinds.map(pathOf))].map((path) => {
      const { hash } = this.#document(path, kinds);
      return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }] as const;
    });
    return { paths: Object.fromEntries(paths) };
  }

  /** Undefined if there is no such group-version. */
  document(
    { group, version }: Pick<ServedKind, "group" | "version">,
    kinds: readonly ServedKind[],
  ): OpenApiBytes | undefined {
    const path = pathOf({ group, version });
    return kinds.some((kind) => pathOf(kind) === path) ? this.#document(path, kinds) : undefined;
  }

  /** All kinds in one document of version 2. */
  v2Document(format: OpenApiV2Format, kinds: readonly ServedKind[]): OpenApiBytes {
    return this.#cached(`v2 ${format}`, kinds, () => {
      const document = openApiV2Document(kinds, this.#builtIns);
      return format === "protobuf" ? encodeOpenApiV2(document) : Buffer.from(JSON.stringify(document));
    });
  }

  #document(path: string, all: readonly ServedKind[]): CachedDocument {
    const kinds = all.filter((kind) => pathOf(kind) === path);
    return this.#cached(path, kinds, () => Buffer.from(JSON.stringify(openApiDocument(kinds, this.#builtIns))));
  }

  #cached(name: string, kinds: readonly ServedKind[], build: () => Buffer): CachedDocument {
    const known = this.#written.get(name);
    if (known !== undefined && isSame(known.kinds, kinds)) return known;
    const bytes = build();
    const hash = createHash("sha256").update(bytes).digest("hex").toUpperCase();
    const written = { kinds, bytes, hash };
    this.#written.set(name, written);
    return written;
  }
}

function pathOf({ group, version }: Pick<ServedKind, "group" | "version">): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

function isSame(a: readonly ServedKind[], b: readonly ServedKind[]): boolean {
  return a.length === b.length && a.every((kind, index) => kind === b[index]);
}
