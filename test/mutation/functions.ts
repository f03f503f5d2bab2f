import { childrenOf, isFunction, parseTypeScript, part, type SyntaxNode } from "./syntax.ts";

/**
 * Functions have names that survive edits elsewhere in the file, so that what a test was seen to reach yesterday holds
 * today: the name it is declared under and the names around it, and a number where that is not unique.
 */
export class FunctionNames {
  readonly #seen = new Map<string, number>();

  nameOf(node: SyntaxNode, parent: SyntaxNode | undefined, around: string | undefined): string {
    const own = declaredName(node) ?? (parent === undefined ? undefined : declaredName(parent)) ?? "";
    const path = around === undefined ? own : `${around}.${own}`;
    const count = this.#seen.get(path) ?? 0;
    this.#seen.set(path, count + 1);
    return count === 0 ? path : `${path}#${count}`;
  }
}

function declaredName(node: SyntaxNode): string | undefined {
  const name = (part(node, "id") ?? part(node, "key"))?.["name"];
  return typeof name === "string" ? name : undefined;
}

/** The source with a call at the start of every function, which notes that it was reached. */
export function withReachMarks(source: string, file: string): string {
  const names = new FunctionNames();
  const inserts: { readonly at: number; readonly text: string }[] = [];
  const visit = (node: SyntaxNode, parent: SyntaxNode | undefined, around: string | undefined) => {
    let within = around;
    if (isFunction(node)) {
      within = names.nameOf(node, parent, around);
      const mark = `globalThis.__reached?.add(${JSON.stringify(`${file}#${within}`)})`;
      const body = part(node, "body");
      if (body?.type === "BlockStatement") inserts.push({ at: body.start + 1, text: `${mark};` });
      else if (body !== undefined) inserts.push({ at: body.start, text: `(${mark}, ` }, { at: body.end, text: ")" });
    }
    for (const child of childrenOf(node)) visit(child, node, within);
  };
  visit(parseTypeScript(source), undefined, undefined);
  let marked = source;
  for (const { at, text } of inserts.toSorted((a, b) => b.at - a.at))
    marked = marked.slice(0, at) + text + marked.slice(at);
  return marked;
}
