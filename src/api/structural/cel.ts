import { Environment } from "@marcbachmann/cel-js";
import { RE2JS } from "re2js";
import { errorMessage } from "../../util/error-text.ts";
import { isRecord } from "../object.ts";
import { CelMeter, meterNodes } from "./cel-cost.ts";
import { estimateRules, type RuleEstimate } from "./cel-estimate.ts";
import { replaceHasOfIndexed } from "./cel-has.ts";
import { fieldSchema, type StructuralSchema } from "./schema.ts";

/** The result of a rule: a boolean, or why it could not be evaluated. */
export type CelOutcome =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "error"; readonly because: string }
  /** It cost more than it may; nothing is known about its result. */
  | { readonly kind: "over-budget" };

interface Program {
  (context: Record<string, unknown>): unknown;
  readonly ast: unknown;
  check(): { readonly valid: boolean; readonly type?: string; readonly error?: Error };
}

/** Adds the variables, types and functions that only some expressions have. */
export type CelDialect = (environment: Environment) => Environment;

const ruleVariables: CelDialect = (environment) =>
  environment.registerVariable("self", "dyn").registerVariable("oldSelf", "dyn");

/** Expressions are forgotten when they have more characters than this in total: CRDs come and go. */
const maxCompiledCharacters = 2_000_000;

/** An outcome and what it cost. */
interface MeteredOutcome {
  readonly outcome: CelOutcome;
  readonly cost: number;
}

/** Kubernetes' dialect of CEL, with each expression compiled once. Validation rules, unless a dialect says otherwise. */
export class CelPrograms {
  readonly #meter = new CelMeter();
  readonly #environment: Environment;
  readonly #programs = new Map<string, Program | string>();
  readonly #schemasWithRules = new WeakMap<StructuralSchema, boolean>();
  #compiledCharacters = 0;

  constructor(dialect: CelDialect = ruleVariables) {
    this.#environment = dialect(kubernetesEnvironment(this.#meter));
  }

  /** Why an expression cannot be a condition: it does not compile, or yields something else than a boolean. */
  conditionProblem(expression: string): string | undefined {
    const program = this.#program(expression);
    if (typeof program === "string") return program;
    const { valid, type, error } = program.check();
    if (!valid) return firstLine(error);
    return type === "bool" || type === "dyn" ? undefined : `must evaluate to bool or the unknown type, not ${type}`;
  }

  /** Evaluates an expression that may cost at most `limit`. */
  evaluate(expression: string, context: Record<string, unknown>, limit: number): MeteredOutcome {
    const program = this.#program(expression);
    if (typeof program === "string") return { outcome: { kind: "error", because: program }, cost: 1 };
    this.#meter.start(limit);
    const outcome = this.#outcome(program, context);
    return { outcome, cost: limit - this.#meter.left };
  }

  #outcome(program: Program, context: Record<string, unknown>): CelOutcome {
    try {
      const value = program(context);
      // Operators such as || and macros such as exists swallow errors of a part.
      return this.#meter.isExhausted ? { kind: "over-budget" } : { kind: "value", value };
    } catch (error) {
      return this.#meter.isExhausted ? { kind: "over-budget" } : { kind: "error", because: firstLine(error) };
    }
  }

  /** What each rule of a schema can cost at most. */
  estimates(schema: StructuralSchema): readonly RuleEstimate[] {
    return estimateRules(schema, (expression) => {
      const program = this.#program(expression);
      return typeof program === "string" ? undefined : program.ast;
    });
  }

  /** Most parts of a schema have no rules; skipping them keeps admission fast. */
  hasRulesBelow(node: StructuralSchema): boolean {
    const known = this.#schemasWithRules.get(node);
    if (known !== undefined) return known;
    const children = [...Object.values(node.properties ?? {}), node.items, node.additionalProperties];
    const found = children.some(
      (child) =>
        typeof child === "object" && (child["x-kubernetes-validations"] !== undefined || this.hasRulesBelow(child)),
    );
    this.#schemasWithRules.set(node, found);
    return found;
  }

  /** The compiled expression, or why it does not compile. */
  #program(expression: string): Program | string {
    const known = this.#programs.get(expression);
    if (known !== undefined) return known;
    const program = this.#compile(expression);
    this.#compiledCharacters += expression.length;
    if (this.#compiledCharacters > maxCompiledCharacters) {
      this.#programs.clear();
      this.#compiledCharacters = expression.length;
    }
    this.#programs.set(expression, program);
    return program;
  }

  #compile(expression: string): Program | string {
    try {
      const program = this.#environment.parse(expression);
      replaceFunctions(program.ast);
      replaceHasOfIndexed(program.ast, (text) => this.#environment.parse(text).ast);
      meterNodes(program.ast, this.#meter);
      return program;
    } catch (error) {
      return firstLine(error);
    }
  }
}

/** Expressions of real CRDs have a few hundred nodes. */
const maxNodes = 10_000;

function kubernetesEnvironment(meter: CelMeter): Environment {
  /** Matching takes time in proportion to text and pattern; it is charged before it begins, as Kubernetes charges it. */
  const compiled = (text: string, pattern: string): RE2JS => {
    meter.charge(Math.ceil((1 + text.length) / 10) * Math.ceil(pattern.length / 4));
    return RE2JS.compile(pattern);
  };
  const findAll = (text: string, pattern: string): string[] => {
    const matcher = compiled(text, pattern).matcher(text);
    const found: string[] = [];
    while (matcher.find()) found.push(matcher.group() ?? "");
    return found;
  };
  return new Environment({
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes: maxNodes },
  })
    .registerFunction("string.find(string): string", (text: string, pattern: string) => findAll(text, pattern)[0] ?? "")
    .registerFunction("string.findAll(string): list<string>", findAll)
    .registerFunction(`string.${re2Matches}(string): bool`, (text: string, pattern: string) =>
      compiled(text, pattern).matcher(text).find(),
    )
    .registerFunction("string.replace(string, string): string", (text: string, from: string, to: string) => {
      const grown = (text.length * (1 + to.length)) / Math.max(1, from.length);
      meter.charge((text.length + grown) / 10);
      return text.replaceAll(from, () => to);
    })
    .registerFunction(`list<string>.${meteredJoin}(string): string`, (texts: readonly string[], separator: string) => {
      meter.charge((separator.length * texts.length) / 10);
      return texts.join(separator);
    });
}

const re2Matches = "matchesRe2";
const meteredJoin = "joinMetered";

/**
 * Functions of the library we replace by their own. Its `matches` uses JavaScript's regular expressions, where a dot stops
 * at more than newlines and a pattern can hang; a long separator makes the result of `join` huge.
 */
const replacedFunctions: ReadonlyMap<unknown, string> = new Map([
  ["matches", re2Matches],
  ["join", meteredJoin],
]);

function replaceFunctions(part: unknown): void {
  if (Array.isArray(part)) for (const one of part) replaceFunctions(one);
  if (!isRecord(part)) return;
  const { op, args } = part;
  if (op === "rcall" && Array.isArray(args) && Array.isArray(args[2]) && args[2].length === 1)
    args[0] = replacedFunctions.get(args[0]) ?? args[0];
  replaceFunctions(args);
}

function firstLine(error: unknown): string {
  const text = errorMessage(error);
  return text.split("\n", 1)[0] ?? text;
}

/** JSON converted to CEL values by its schema: integers as BigInt, maps as Map, field names escaped where necessary. */
export function toCel(
  value: unknown,
  schema: StructuralSchema | undefined,
  converted: { values: number } = { values: 0 },
): unknown {
  converted.values += 1;
  if (typeof value === "number") return isIntegral(value, schema) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map((item) => toCel(item, schema?.items, converted));
  if (!isRecord(value)) return value;
  const isMap = schema?.additionalProperties !== undefined;
  const entries = Object.entries(value).map(([field, child]) => [
    isMap ? field : escapeField(field),
    toCel(child, fieldSchema(schema, field), converted),
  ]);
  return new Map(entries as [string, unknown][]);
}

function isIntegral(value: number, schema: StructuralSchema | undefined): boolean {
  return Number.isInteger(value) && schema?.type !== "number";
}

const celKeywords = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

/** Kubernetes' escaping of property names that are not CEL identifiers. */
function escapeField(field: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(field) && !field.includes("__") && !celKeywords.has(field)) return field;
  if (celKeywords.has(field)) return `__${field}__`;
  return field
    .replaceAll("__", "__underscores__")
    .replaceAll(".", "__dot__")
    .replaceAll("-", "__dash__")
    .replaceAll("/", "__slash__");
}
