import type { Ec2ValidationFacts } from "../../../api/conditions/ec2-node-class.ts";
import { formatPath, type Problem } from "../../../api/problem.ts";
import { resolvedAmiFamily } from "../../../api/validation/ami-family.ts";
import { tagProblems } from "../../../api/validation/ec2-node-class.ts";
import { amiFamilyKubeletProblems, kubeletProblems } from "../../../api/validation/kubelet.ts";
import {
  expressionEvaluationProblems,
  expressionSyntaxProblems,
  expressionsDisabledProblems,
} from "../../../api/validation/kubelet-expression-problems.ts";
import {
  type CompileExpression,
  type InstanceVariables,
  kubeletExpressionsOf,
} from "../../../api/validation/kubelet-expressions.ts";
import type { Ec2NodeClassSpec } from "./node-class-object.ts";

/** What expressions of a class are checked with. */
export interface ExpressionChecks {
  /** The gate NodeClassCEL. */
  readonly allowsExpressions: boolean;
  /** What expressions can ask about each instance type. */
  readonly instanceVariables: () => readonly InstanceVariables[];
  readonly compile?: CompileExpression | undefined;
}

export const noExpressions: ExpressionChecks = { allowsExpressions: false, instanceVariables: () => [] };

/** What can be said about a spec without asking AWS. (04 §1.12) */
export function validationFactsOf(
  spec: Ec2NodeClassSpec,
  { allowsExpressions, instanceVariables, compile }: ExpressionChecks,
): Omit<Ec2ValidationFacts, "conditions"> {
  const { kubelet, tags } = spec;
  const amiFamily = resolvedAmiFamily(spec);
  const hasExpressions = allowsExpressions && kubeletExpressionsOf(kubelet).length > 0;
  return {
    amiFamily,
    kubelet: messageOf(kubeletProblems(kubelet)),
    expressionsDisabled: allowsExpressions ? undefined : messageOf(expressionsDisabledProblems(kubelet)),
    expressionInvalid: hasExpressions ? messageOf(expressionSyntaxProblems(kubelet, compile)) : undefined,
    unsupportedKubelet: messageOf(amiFamilyKubeletProblems(kubelet, amiFamily)),
    expressionEvaluation: hasExpressions
      ? messageOf(expressionEvaluationProblems(kubelet, instanceVariables(), compile))
      : undefined,
    tags: messageOf(tagProblems(tags)),
  };
}

function messageOf(problems: readonly Problem[]): string | undefined {
  if (problems.length === 0) return undefined;
  return problems.map(({ path, message }) => `${formatPath(path)}: ${message}`).join("; ");
}
