import { newNodeCandidate } from "../scheduling/commit.ts";
import { fitOnPlannedNode, type PodAttempt } from "../scheduling/fit-on-planned-node.ts";
import { newNodeVerdict } from "../scheduling/new-node-verdict.ts";
import type { Pass, PoolTemplate } from "../scheduling/pass-state.ts";
import type { PodClass } from "../scheduling/pod-class.ts";
import type { RefusalCause } from "../scheduling/refusal.ts";
import { splitRules, type Variant } from "../scheduling/variants.ts";
import { untoleratedTaints } from "../tolerations.ts";

/** What keeps a pod from a new node of one pool: every constraint in the way, not only the first that refuses. */
export interface PoolObstacles {
  readonly poolTemplate: PoolTemplate;
  /** In the order of the checks; empty: the pool would take the pod. */
  readonly causes: readonly RefusalCause[];
}

/** More than one cause a check is unheard of; this only ends what would not end. */
const maxCauses = 16;

/**
 * Asks for the verdict, does away with what it names, and asks again, until nothing refuses or what refuses cannot be
 * thought away: types that are too small stay too small. (02:N-1 to N-3)
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

/** A verdict names one taint; all of them must go. */
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
  // What a variant has learnt of pools holds no longer.
  return { ...check, podAttempt: { queuedPod, variant: { ...variant, ...changes, toleratedTemplates: new Map() } } };
}

function withClass(check: PoolCheck, changes: Partial<PodClass>): PoolCheck {
  const { queuedPod, variant } = check.podAttempt;
  const podClass = { ...queuedPod.podClass, ...changes };
  return { ...check, podAttempt: { queuedPod: { ...queuedPod, podClass }, variant } };
}
