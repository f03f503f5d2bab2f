import type { ApiPod } from "../../api-pod-and-node.ts";
import type { JobSpec, PodFailurePolicyRule } from "../types.ts";

/** The podFailurePolicy rule that matches a failed pod. */
export interface PodFailurePolicyMatch {
  readonly action: PodFailurePolicyRule["action"];
  readonly message: string;
}

/** The first matching rule decides; undefined if none matches. */
export function matchPodFailurePolicy({ podFailurePolicy }: JobSpec, pod: ApiPod): PodFailurePolicyMatch | undefined {
  const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
  for (const [at, rule] of (podFailurePolicy?.rules ?? []).entries()) {
    const end = `matching ${rule.action} rule at index ${at}`;
    const exit = matchingExitCode(rule, pod);
    if (exit !== undefined) {
      const message = `Container ${exit.container} for pod ${name} failed with exit code ${exit.code} ${end}`;
      return { action: rule.action, message };
    }
    const condition = matchingCondition(rule, pod);
    if (condition !== undefined) {
      return { action: rule.action, message: `Pod ${name} has condition ${condition} ${end}` };
    }
  }
  return undefined;
}

function matchingExitCode({ onExitCodes }: PodFailurePolicyRule, { status }: ApiPod) {
  if (onExitCodes === undefined) return undefined;
  const { containerName, operator, values = [] } = onExitCodes;
  for (const { name, state } of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]) {
    const code = state?.terminated?.exitCode ?? 0;
    const isMeant = code !== 0 && (containerName === undefined || containerName === name);
    if (isMeant && values.includes(code) === (operator === "In")) return { container: name, code };
  }
  return undefined;
}

function matchingCondition({ onPodConditions = [] }: PodFailurePolicyRule, { status }: ApiPod): string | undefined {
  const has = (type: string, wanted: string) =>
    status?.conditions?.some((condition) => condition.type === type && condition.status === wanted) ?? false;
  return onPodConditions.find(({ type, status: wanted = "True" }) => has(type, wanted))?.type;
}
