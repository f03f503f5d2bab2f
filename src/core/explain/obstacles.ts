import { fitOnClaim, type Seeker } from "../scheduling/claims.ts";
import { newProspect } from "../scheduling/commit.ts";
import type { Pass, Shop } from "../scheduling/pass-state.ts";
import type { PodClass, TopologyRule } from "../scheduling/pod-class.ts";
import { verdictOf } from "../scheduling/pool-verdict.ts";
import type { Cause } from "../scheduling/refusal.ts";
import type { Variant } from "../scheduling/variants.ts";
import { allUntolerated } from "../tolerations.ts";

/** What keeps a pod from a new node of one pool: every constraint in the way, not only the first that refuses. */
export interface Obstacles {
  readonly shop: Shop;
  /** In the order of the checks; empty: the pool would take the pod. */
  readonly causes: readonly Cause[];
}

/** More than one cause a check is unheard of; this only ends what would not end. */
const mostCauses = 16;

/**
 * Asks for the verdict, does away with what it names, and asks again, until nothing refuses or what refuses cannot be
 * thought away: types that are too small stay too small. (02:N-1 to N-3)
 */
export function obstaclesAt(pass: Pass, seeker: Seeker, shop: Shop): Obstacles {
  const causes: Cause[] = [];
  let attempt: Attempt | undefined = { pass, seeker, shop };
  while (attempt !== undefined && causes.length < mostCauses && !isAccepted(attempt)) {
    const { cause } = verdictOf(attempt.pass, attempt.seeker, attempt.shop);
    causes.push(...everyTaint(cause, attempt));
    attempt = eased(attempt, cause);
  }
  return { shop, causes };
}

interface Attempt {
  readonly pass: Pass;
  readonly seeker: Seeker;
  readonly shop: Shop;
}

function isAccepted({ pass, seeker, shop }: Attempt): boolean {
  const prospect = newProspect(pass, shop);
  return typeof prospect !== "string" && fitOnClaim(pass, seeker, prospect) !== undefined;
}

/** A verdict names one taint; all of them must go. */
function everyTaint(cause: Cause, { seeker, shop }: Attempt): readonly Cause[] {
  if (cause.code !== "taint") return [cause];
  const taints = shop.template.nodePool.spec.template.spec.taints ?? [];
  return allUntolerated(seeker.variant.tolerations, taints).map((taint) => ({ code: "taint", taint }));
}

/** The same attempt without the constraint that refused. */
function eased(attempt: Attempt, cause: Cause): Attempt | undefined {
  const { shop, pass } = attempt;
  const { variant } = attempt.seeker;
  switch (cause.code) {
    case "limits":
    case "node-limit":
      return { ...attempt, shop: { ...shop, remaining: new Map() } };
    case "taint":
      return withVariant(attempt, { tolerations: [{ operator: "Exists" }] });
    case "requirements": {
      const keys = new Set(cause.conflicts.map(({ key }) => key));
      let rest = variant.incoming.requirements;
      for (const key of keys) rest = rest.without(key);
      const hostname = variant.hostname !== undefined && keys.has(variant.hostname.key) ? undefined : variant.hostname;
      const rules = variant.rules.filter(({ group }) => !keys.has(group.spec.key));
      return withVariant(attempt, { incoming: pass.table.setOf(rest), hostname, ...ruleSets(rules) });
    }
    case "volume-requirements":
      return withClass(attempt, { volumeAlternatives: [] });
    case "topology": {
      const rules = variant.rules.filter(({ group: { spec } }) => spec.key !== cause.key || spec.kind !== cause.kind);
      return withVariant(attempt, ruleSets(rules));
    }
    default:
      return undefined;
  }
}

function ruleSets(rules: readonly TopologyRule[]): Pick<Variant, "rules" | "hostRules" | "domainRules"> {
  return {
    rules,
    hostRules: rules.filter(({ group }) => group.isHostname),
    domainRules: rules.filter(({ group }) => !group.isHostname),
  };
}

function withVariant(attempt: Attempt, changes: Partial<Variant>): Attempt {
  const { entry, variant } = attempt.seeker;
  // What a variant has learnt of pools holds no longer.
  return { ...attempt, seeker: { entry, variant: { ...variant, ...changes, tolerated: new Map() } } };
}

function withClass({ pass, seeker, shop }: Attempt, changes: Partial<PodClass>): Attempt {
  const { entry, variant } = seeker;
  const podClass: PodClass = { ...entry.podClass, ...changes };
  const requests = new Map(pass.requests).set(podClass, pass.requests.get(entry.podClass) as Float64Array);
  return { pass: { ...pass, requests }, seeker: { entry: { ...entry, podClass }, variant }, shop };
}
