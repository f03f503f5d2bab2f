import { formatPath, type Problem } from "../problem.ts";
import type { ConditionObservation } from "./condition.ts";

/** True, or False with all problems in the message, so that they can be fixed in one edit. */
export function validationObservation(problems: readonly Problem[], reason: string): ConditionObservation {
  if (problems.length === 0) return { status: "True", reason: "ValidationSucceeded", message: "" };
  return { status: "False", reason, message: problemsMessage(problems) };
}

const maxMessageLength = 32_768;

/** All problems on one line, each with its path; cut at the length the schema allows. (01 §0.4) */
export function problemsMessage(problems: readonly Problem[]): string {
  const text = problems.map(({ path, message }) => `${formatPath(path)}: ${message}`).join("; ");
  return text.length <= maxMessageLength ? text : `${text.slice(0, maxMessageLength - 3)}...`;
}
