import { FunctionNames } from "./functions.ts";
import type { Mutant, MutantKind } from "./mutant.ts";
import { bare, childrenOf, isFunction, parseTypeScript, part, parts, type SyntaxNode } from "./syntax.ts";

type Change = Pick<Mutant, "kind" | "start" | "end" | "replacement">;

/** Every fault this run could make in a file, in the order of the source. */
export function findMutants(file: string, source: string): readonly Mutant[] {
  const found: Mutant[] = [];
  const names = new FunctionNames();
  const lineAt = lineCounter(source);
  const visit = (node: SyntaxNode, parent: SyntaxNode | undefined, around: string | undefined) => {
    for (const change of changesOf(node, parent, source)) {
      found.push({ ...change, file, line: lineAt(change.start), inFunction: around });
    }
    const within = isFunction(node) ? names.nameOf(node, parent, around) : around;
    for (const child of childrenOf(node)) visit(child, node, within);
  };
  visit(parseTypeScript(source), undefined, undefined);
  return found.filter(({ start, end, replacement }) => source.slice(start, end) !== replacement);
}

function lineCounter(source: string): (offset: number) => number {
  const starts = [0, ...[...source.matchAll(/\n/g)].map((match) => match.index + 1)];
  return (offset) => {
    let line = starts.length;
    while ((starts[line - 1] ?? 0) > offset) line -= 1;
    return line;
  };
}

function changesOf(node: SyntaxNode, parent: SyntaxNode | undefined, source: string): readonly Change[] {
  const text = (part: SyntaxNode) => source.slice(part.start, part.end);
  const to = (kind: MutantKind, replacement: string, at: SyntaxNode = node): Change => ({
    kind,
    start: at.start,
    end: at.end,
    replacement,
  });
  switch (node.type) {
    case "IfStatement":
    case "ConditionalExpression":
    case "WhileStatement":
      return negated(node, text, to);
    case "ForStatement":
      return changeOfPart(node, "test", (test) => to("condition", "false", test));
    case "BinaryExpression":
    case "LogicalExpression":
    case "AssignmentExpression":
      return swappedOperator(node, text, to);
    case "UnaryExpression":
      return node["operator"] === "!" && parent !== undefined && !isNegated(parent)
        ? changeOfPart(node, "argument", (argument) => to("condition", `(${text(argument)})`))
        : [];
    case "AwaitExpression":
      return changeOfPart(node, "argument", (argument) => to("await", `(${text(argument)})`));
    case "ExpressionStatement":
    case "ContinueStatement":
    case "BreakStatement":
    case "ThrowStatement":
      return parent?.type === "SwitchCase" && node.type === "BreakStatement" ? [] : [to("statement", ";")];
    case "ReturnStatement":
      return changedReturn(node, to);
    case "ArrayExpression":
    case "ObjectExpression":
      return droppedEntries(node, source);
    case "Literal":
      return changedLiteral(node, parent, to);
    case "CallExpression":
      return changedCall(node, text, to);
    default:
      return [];
  }
}

type To = (kind: MutantKind, replacement: string, at?: SyntaxNode) => Change;
type Text = (node: SyntaxNode) => string;

function changeOfPart(node: SyntaxNode, field: string, change: (at: SyntaxNode) => Change): readonly Change[] {
  const at = part(node, field);
  return at === undefined ? [] : [change(at)];
}

function negated(node: SyntaxNode, text: Text, to: To): readonly Change[] {
  return changeOfPart(node, "test", (test) =>
    to("condition", node.type === "WhileStatement" ? "false" : `!(${text(test)})`, test),
  );
}

/** The condition of an `if` is negated there already. */
function isNegated(parent: SyntaxNode): boolean {
  return parent.type === "IfStatement" || parent.type === "ConditionalExpression";
}

const swapped: Readonly<Record<string, readonly [MutantKind, string]>> = {
  "<": ["boundary", "<="],
  "<=": ["boundary", "<"],
  ">": ["boundary", ">="],
  ">=": ["boundary", ">"],
  "===": ["operator", "!=="],
  "!==": ["operator", "==="],
  "&&": ["operator", "||"],
  "||": ["operator", "&&"],
  "+": ["operator", "-"],
  "-": ["operator", "+"],
  "*": ["operator", "/"],
  "/": ["operator", "*"],
  "%": ["operator", "*"],
  "&": ["operator", "|"],
  "|": ["operator", "&"],
  "<<": ["operator", ">>"],
  ">>": ["operator", "<<"],
  ">>>": ["operator", "<<"],
  "+=": ["operator", "-="],
  "-=": ["operator", "+="],
  "*=": ["operator", "/="],
  "|=": ["operator", "&="],
  "&=": ["operator", "|="],
};

function swappedOperator(node: SyntaxNode, text: Text, to: To): readonly Change[] {
  const [left, right, operator] = [part(node, "left"), part(node, "right"), String(node["operator"])];
  if (left === undefined || right === undefined) return [];
  if (operator === "??") return [to("fallback", text(left))];
  const [kind, other] = swapped[operator] ?? [];
  if (kind === undefined || (operator === "+" && [left, right].some(isText))) return [];
  // Parentheses are no part of the tree: only the operator between the two sides is exchanged.
  const start = text(node).slice(0, left.end - node.start);
  const between = text(node).slice(left.end - node.start, right.start - node.start);
  const changed = `${start}${between.replace(operator, () => other ?? "")}${text(node).slice(right.start - node.start)}`;
  return [to(kind, node.type === "AssignmentExpression" ? changed : `(${changed})`)];
}

function isText(node: SyntaxNode): boolean {
  const { type, value } = bare(node);
  return type === "TemplateLiteral" || typeof value === "string";
}

/** A return of nothing is removed, so that what follows runs; returned truth and collections become others. */
function changedReturn(node: SyntaxNode, to: To): readonly Change[] {
  const value = part(node, "argument");
  if (value === undefined) return [to("statement", ";")];
  const { type, operator } = bare(value);
  if (type === "LogicalExpression" || operator === "!")
    return [to("constant", "true", value), to("constant", "false", value)];
  if (type === "Identifier" || type === "CallExpression") return [to("constant", "undefined", value)];
  return [];
}

/** Each entry goes once, with the comma behind it. */
function droppedEntries(node: SyntaxNode, source: string): readonly Change[] {
  const entries = parts(node, node.type === "ArrayExpression" ? "elements" : "properties");
  return entries.map(({ start, end }, at): Change => {
    const comma = /^\s*,/.exec(source.slice(end))?.[0].length ?? 0;
    return { kind: "entry", start, end: entries[at + 1]?.start ?? end + comma, replacement: "" };
  });
}

function changedLiteral(node: SyntaxNode, parent: SyntaxNode | undefined, to: To): readonly Change[] {
  const { value } = node;
  if (parent?.["key"] === node || parent === undefined) return [];
  if (typeof value === "boolean") return [to("constant", String(!value))];
  if (typeof value === "number") return [to("constant", String(value + 1))];
  if (typeof value === "string" && (parent.type === "ReturnStatement" || parent.type === "ArrowFunctionExpression")) {
    return [to("constant", value === "" ? '"changed"' : '""')];
  }
  return [];
}

const otherMethods: Readonly<Record<string, string>> = { some: "every", every: "some", min: "max", max: "min" };
const droppedMethods = new Set(["filter", "sort", "toSorted", "reverse", "toReversed", "slice"]);

function changedCall(node: SyntaxNode, text: Text, to: To): readonly Change[] {
  const callee = part(node, "callee");
  const [object, method] = callee === undefined ? [] : [part(callee, "object"), part(callee, "property")];
  if (
    callee?.type !== "MemberExpression" ||
    callee["computed"] === true ||
    object === undefined ||
    method === undefined
  )
    return [];
  const name = String(method["name"]);
  if (droppedMethods.has(name)) return [to("call", `(${text(object)})`)];
  const other = otherMethods[name];
  return other === undefined ? [] : [to("call", other, method)];
}
