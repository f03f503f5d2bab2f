import { Environment, type ParseResult } from "@marcbachmann/cel-js";
import { Quantity } from "../../util/quantity.ts";
import { type ReservedMap, reservedMaps, stringMapAt } from "./kubelet.ts";
import type { KubeletConfiguration } from "./kubelet-decode.ts";

/** What an expression may ask about the instance type it is evaluated for. (01 §1.6.4.3) */
export interface InstanceVariables {
  readonly vcpus: number;
  readonly memoryMib: number;
  readonly defaultEnis: number;
  readonly ipsPerEni: number;
  /** Inside `maxPods` the family's default; inside the reserved maps the resolved value. */
  readonly maxPods: number;
  readonly instanceType: string;
}

/** Where an expression stands. */
export type ExpressionLocation =
  | { readonly field: "maxPods" }
  | { readonly field: ReservedMap; readonly resource: string };

export type KubeletExpression = ExpressionLocation & { readonly text: string };

/** A reserved value that is no quantity is an expression: there is nothing else it could be. */
function isKubeletExpression(value: string): boolean {
  return Quantity.tryParse(value) === undefined;
}

/** Every expression of a kubelet block, maxPods first: the others may refer to its result. */
export function kubeletExpressionsOf(block: KubeletConfiguration | undefined): readonly KubeletExpression[] {
  if (block === undefined) return [];
  const { maxPods } = block;
  const reserved = reservedMaps.flatMap((field) =>
    Object.entries(stringMapAt(block, field))
      .filter(([, text]) => isKubeletExpression(text))
      .map(([resource, text]) => ({ field, resource, text })),
  );
  return [...(typeof maxPods === "string" ? [{ field: "maxPods" as const, text: maxPods }] : []), ...reserved];
}

/** An expression of a kubelet block that compiles. */
export interface CompiledKubeletExpression {
  readonly expression: KubeletExpression;
  readonly program: CompiledExpression;
}

/** Compiles the text of an expression, or remembers what it came to. */
export type CompileExpression = (text: string) => ExpressionOutcome<CompiledExpression>;

/** The expressions of a block, maxPods first. One that does not compile is left out; validation reports it. */
export function compiledKubeletExpressions(
  block: KubeletConfiguration | undefined,
  compile: CompileExpression = compileExpression,
): readonly CompiledKubeletExpression[] {
  return kubeletExpressionsOf(block).flatMap((expression) => {
    const outcome = compile(expression.text);
    return outcome.kind === "ok" ? [{ expression, program: outcome.value }] : [];
  });
}

export type ExpressionOutcome<T> =
  | { readonly kind: "ok"; readonly value: T }
  | { readonly kind: "error"; readonly message: string };

/** An expression that parses and yields a number. */
export interface CompiledExpression {
  readonly text: string;
  /** The whole number it yields for an instance type; fractions are cut off. */
  evaluate(variables: InstanceVariables): ExpressionOutcome<bigint>;
}

export function compileExpression(text: string): ExpressionOutcome<CompiledExpression> {
  try {
    const program = environment.parse(text);
    const { valid, type, error } = program.check();
    if (!valid) return failure(error?.summary ?? "it does not type-check");
    if (type !== "int" && type !== "double") return failure(`it yields ${type ?? "nothing"}, not a number`);
    return { kind: "ok", value: { text, evaluate: (variables) => evaluate(program, variables) } };
  } catch (error) {
    return failure(reasonOf(error));
  }
}

// Integers are BigInt in CEL: 64-bit, and an overflow is an error rather than a rounded number.
function evaluate(program: ParseResult, variables: InstanceVariables): ExpressionOutcome<bigint> {
  try {
    const result: unknown = program(contextOf(variables));
    if (typeof result === "bigint") return { kind: "ok", value: result };
    if (typeof result === "number" && Number.isFinite(result)) return { kind: "ok", value: BigInt(Math.trunc(result)) };
    return failure(`it yields ${String(result)} for ${variables.instanceType}, which is not a finite number`);
  } catch (error) {
    return failure(`it fails for ${variables.instanceType}: ${reasonOf(error)}`);
  }
}

function contextOf(variables: InstanceVariables): Readonly<Record<string, bigint | string>> {
  return {
    vcpus: BigInt(variables.vcpus),
    memory_mib: BigInt(variables.memoryMib),
    default_enis: BigInt(variables.defaultEnis),
    ips_per_eni: BigInt(variables.ipsPerEni),
    max_pods: BigInt(variables.maxPods),
    instance_type: variables.instanceType,
  };
}

const maxInt32 = 2_147_483_647n;

/** The `maxPods` an expression yields. */
export function evaluatedMaxPods(
  expression: CompiledExpression,
  variables: InstanceVariables,
): ExpressionOutcome<number> {
  const outcome = nonNegative(expression.evaluate(variables), variables);
  if (outcome.kind === "error") return outcome;
  if (outcome.value > maxInt32)
    return failure(`it yields ${outcome.value} for ${variables.instanceType}, more than ${maxInt32}`);
  return { kind: "ok", value: Number(outcome.value) };
}

/** How a bare number is read, by resource: its unit and the step it is rounded up to. */
const units: ReadonlyMap<string, { readonly suffix: string; readonly step: bigint }> = new Map([
  ["cpu", { suffix: "m", step: 10n }],
  ["memory", { suffix: "Mi", step: 16n }],
  ["ephemeral-storage", { suffix: "Gi", step: 1n }],
  ["pid", { suffix: "", step: 1n }],
]);

/** The quantity an expression in a reserved map yields. Rounded up: reserving too little is what hurts. */
export function evaluatedReservation(
  expression: CompiledExpression,
  { resource, variables }: { readonly resource: string; readonly variables: InstanceVariables },
): ExpressionOutcome<string> {
  const outcome = nonNegative(expression.evaluate(variables), variables);
  if (outcome.kind === "error") return outcome;
  const { suffix, step } = units.get(resource) ?? { suffix: "", step: 1n };
  return { kind: "ok", value: `${((outcome.value + step - 1n) / step) * step}${suffix}` };
}

function nonNegative(
  outcome: ExpressionOutcome<bigint>,
  { instanceType }: InstanceVariables,
): ExpressionOutcome<bigint> {
  if (outcome.kind === "error" || outcome.value >= 0n) return outcome;
  return failure(`it yields ${outcome.value} for ${instanceType}, which is negative`);
}

const environment = buildEnvironment();

function buildEnvironment(): Environment {
  const built = new Environment();
  for (const name of ["vcpus", "memory_mib", "default_enis", "ips_per_eni", "max_pods"])
    built.registerVariable(name, "int");
  built.registerVariable("instance_type", "string");
  for (const [a, b] of [
    ["double", "double"],
    ["int", "double"],
    ["double", "int"],
  ] as const) {
    built.registerFunction(`max(${a}, ${b}): double`, (x: number | bigint, y: number | bigint) =>
      Math.max(Number(x), Number(y)),
    );
    built.registerFunction(`min(${a}, ${b}): double`, (x: number | bigint, y: number | bigint) =>
      Math.min(Number(x), Number(y)),
    );
  }
  built.registerFunction("max(int, int): int", (x: bigint, y: bigint) => (x > y ? x : y));
  built.registerFunction("min(int, int): int", (x: bigint, y: bigint) => (x < y ? x : y));
  return built;
}

function failure(message: string): { readonly kind: "error"; readonly message: string } {
  return { kind: "error", message };
}

/** The first line: what follows is a drawing of where in the text it is. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split("\n")[0] ?? message;
}
