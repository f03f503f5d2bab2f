import { createHash } from "node:crypto";
import type { ServedKind } from "../kinds/served-kind.ts";
import { BuiltInSchemas } from "./built-in-schemas.ts";
import { openApiDocument } from "./openapi-document.ts";

interface CachedDocument {
  readonly kinds: readonly ServedKind[];
  readonly bytes: Buffer;
  readonly hash: string;
}

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
  ): { readonly bytes: Buffer; readonly hash: string } | undefined {
    const path = pathOf({ group, version });
    return kinds.some((kind) => pathOf(kind) === path) ? this.#document(path, kinds) : undefined;
  }

  #document(path: string, all: readonly ServedKind[]): CachedDocument {
    const kinds = all.filter((kind) => pathOf(kind) === path);
    const known = this.#written.get(path);
    if (known !== undefined && isSame(known.kinds, kinds)) return known;
    const bytes = Buffer.from(JSON.stringify(openApiDocument(kinds, this.#builtIns)));
    const hash = createHash("sha256").update(bytes).digest("hex").toUpperCase();
    const written = { kinds, bytes, hash };
    this.#written.set(path, written);
    return written;
  }
}

function pathOf({ group, version }: Pick<ServedKind, "group" | "version">): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

function isSame(a: readonly ServedKind[], b: readonly ServedKind[]): boolean {
  return a.length === b.length && a.every((kind, index) => kind === b[index]);
}
