import { newNodeCandidate } from "../scheduling/commit.ts";
import { fitOnPlannedNode, type PodAttempt } from "../scheduling/fit-on-planned-node.ts";
import { newNodeVerdict } from "../scheduling/new-node-verdict.ts";
import type { Pass, PoolTemplate } from "../scheduling/pass-state.ts";
import type { PodClass } from "../scheduling/pod-class.ts";
import type { RefusalCause } from "../scheduling/refusal.ts";
import { splitRules, type Variant } from "../scheduling/variants.ts";
import { untoleratedTaints } from "../tolerations.ts";

/** Every constraint that keeps a pod from a new node of one pool, not only the first that refuses. */
export interface PoolObstacles {
  readonly poolTemplate: PoolTemplate;
  /** In the order of the checks; empty: the pool would accept the pod. */
  readonly causes: readonly RefusalCause[];
}

/** A guard: one cause for each check is the most expected. */
const maxCauses = 16;

/**
 * Gets the verdict, removes the constraint it names, and repeats, until the pod is accepted or the cause cannot be
 * removed (instance types that are too small). (02:N-1 to N-3)
 */
export function poolObstacles(pass: Pass, podAttempt: PodAttempt, poolTemplate: PoolTemplate): PoolObstacles {
  const causes: RefusalCause[] = [];
  let check: PoolCheck | undefined = { pass, podAttempt, poolTemplate };
  while (check !== undefined && causes.length < maxCauses && !isAccepted(check)) {
    const { cause } = newNodeVerdict(check.pass, check.podAttempt, check.poolTemplate);
    causes.push(...everyTaint(cause, check));
    check = withoutCause(check, cause);
  }
  return { poolTemplate, causes };
}

interface PoolCheck {
  readonly pass: Pass;
  readonly podAttempt: PodAttempt;
  readonly poolTemplate: PoolTemplate;
}

function isAccepted({ pass, podAttempt, poolTemplate }: PoolCheck): boolean {
  const candidate = newNodeCandidate(pass, poolTemplate);
  return typeof candidate !== "string" && fitOnPlannedNode(pass, podAttempt, candidate) !== undefined;
}

/** A verdict names one taint; every untolerated taint is a cause. */
function everyTaint(cause: RefusalCause, { podAttempt, poolTemplate }: PoolCheck): readonly RefusalCause[] {
  if (cause.code !== "taint") return [cause];
  const { taints } = poolTemplate.nodeClaimTemplate;
  return untoleratedTaints(podAttempt.variant.tolerations, taints).map((taint) => ({ code: "taint", taint }));
}

/** The same attempt without the constraint that refused. */
function withoutCause(check: PoolCheck, cause: RefusalCause): PoolCheck | undefined {
  const { pass, poolTemplate } = check;
  const { variant } = check.podAttempt;
  switch (cause.code) {
    case "limits":
    case "node-limit":
      return { ...check, poolTemplate: { ...poolTemplate, remainingLimits: new Map() } };
    case "taint":
      return withVariant(check, { tolerations: [{ operator: "Exists" }] });
    case "requirements": {
      const keys = new Set(cause.conflicts.map(({ key }) => key));
      let rest = variant.incoming.requirements;
      for (const key of keys) rest = rest.without(key);
      const hostname = variant.hostname !== undefined && keys.has(variant.hostname.key) ? undefined : variant.hostname;
      const rules = variant.rules.filter(({ group }) => !keys.has(group.spec.key));
      return withVariant(check, { incoming: pass.table.setOf(rest), hostname, ...splitRules(rules) });
    }
    case "volume-requirements":
      return withClass(check, { volumeAlternatives: [] });
    case "topology": {
      const rules = variant.rules.filter(({ group: { spec } }) => spec.key !== cause.key || spec.kind !== cause.kind);
      return withVariant(check, splitRules(rules));
    }
    default:
      return undefined;
  }
}

function withVariant(check: PoolCheck, changes: Partial<Variant>): PoolCheck {
  const { queuedPod, variant } = check.podAttempt;
  // The cached tolerations are no longer valid.
  return { ...check, podAttempt: { queuedPod, variant: { ...variant, ...changes, toleratedTemplates: new Map() } } };
}

function withClass(check: PoolCheck, changes: Partial<PodClass>): PoolCheck {
  const { queuedPod, variant } = check.podAttempt;
  const podClass = { ...queuedPod.podClass, ...changes };
  return { ...check, podAttempt: { queuedPod: { ...queuedPod, podClass }, variant } };
}
