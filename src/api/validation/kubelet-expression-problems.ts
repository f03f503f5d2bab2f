import type { FieldPath, Problem } from "../problem.ts";
import { type KubeletConfiguration, kubeletPath } from "./kubelet-decode.ts";
import {
  type CompiledExpression,
  type CompileExpression,
  compiledKubeletExpressions,
  compileExpression,
  type ExpressionLocation,
  evaluatedMaxPods,
  evaluatedReservation,
  type InstanceVariables,
  type KubeletExpression,
  kubeletExpressionsOf,
} from "./kubelet-expressions.ts";
import { shortText } from "./names.ts";

/** Message for `KubeletExpressionsDisabled`: expressions are there and the gate is off. (01 §1.6.4.3) */
export function expressionsDisabledProblems(block: KubeletConfiguration | undefined): readonly Problem[] {
  return kubeletExpressionsOf(block).map((expression) =>
    problem(
      expression,
      `${quoted(expression)} is an expression; turn on feature gate NodeClassCEL or write a plain value`,
    ),
  );
}

/** For `KubeletExpressionInvalid`: what does not compile. */
export function expressionSyntaxProblems(
  block: KubeletConfiguration | undefined,
  compile: CompileExpression = compileExpression,
): readonly Problem[] {
  return kubeletExpressionsOf(block).flatMap((expression) => {
    const outcome = compile(expression.text);
    return outcome.kind === "ok"
      ? []
      : [problem(expression, `expression ${quoted(expression)} is invalid: ${outcome.message}`)];
  });
}

/** For `KubeletExpressionEvaluationFailed`: the first instance type each expression fails for. */
export function expressionEvaluationProblems(
  block: KubeletConfiguration | undefined,
  instances: readonly InstanceVariables[],
  compile: CompileExpression = compileExpression,
): readonly Problem[] {
  const compiled = compiledKubeletExpressions(block, compile);
  const maxPods = compiled.find(({ expression }) => expression.field === "maxPods")?.program;
  const resolved = instances.map((variables) => withResolvedMaxPods(block, { maxPods, variables }));
  return compiled.flatMap(({ expression, program }) => {
    const over = expression.field === "maxPods" ? instances : resolved;
    const message = firstFailure(over, (variables) => evaluationError({ expression, program, variables }));
    return message === undefined ? [] : [problem(expression, `expression ${quoted(expression)}: ${message}`)];
  });
}

/** Inside the reserved maps `max_pods` is what maxPods came to; a failing maxPods is reported on its own. */
function withResolvedMaxPods(
  block: KubeletConfiguration | undefined,
  { maxPods, variables }: { maxPods: CompiledExpression | undefined; variables: InstanceVariables },
): InstanceVariables {
  const written = block?.maxPods;
  if (typeof written === "number") return { ...variables, maxPods: written };
  const outcome = maxPods && evaluatedMaxPods(maxPods, variables);
  return outcome?.kind === "ok" ? { ...variables, maxPods: outcome.value } : variables;
}

interface Evaluation {
  readonly expression: KubeletExpression;
  readonly program: CompiledExpression;
  readonly variables: InstanceVariables;
}

function evaluationError({ expression, program, variables }: Evaluation): string | undefined {
  const outcome =
    expression.field === "maxPods"
      ? evaluatedMaxPods(program, variables)
      : evaluatedReservation(program, { resource: expression.resource, variables });
  return outcome.kind === "error" ? outcome.message : undefined;
}

function firstFailure(
  instances: readonly InstanceVariables[],
  check: (variables: InstanceVariables) => string | undefined,
) {
  for (const variables of instances) {
    const message = check(variables);
    if (message !== undefined) return message;
  }
  return undefined;
}

function pathOf(location: ExpressionLocation): FieldPath {
  return [...kubeletPath, location.field, ...(location.field === "maxPods" ? [] : [location.resource])];
}

function quoted({ text }: KubeletExpression): string {
  return JSON.stringify(shortText(text));
}

function problem(location: ExpressionLocation, message: string): Problem {
  return { code: "kubelet", path: pathOf(location), message, rule: "01 §1.6.4" };
}
