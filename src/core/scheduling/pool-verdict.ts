import type { Toleration } from "../../api/kubernetes/pod.ts";
import { conflicts, describeConflicts } from "../compatibility.ts";
import type { Requirement } from "../requirement.ts";
import { allUntolerated, describeUntolerated } from "../tolerations.ts";
import { type Prospect, type Seeker, welcome } from "./claims.ts";
import { newProspect } from "./commit.ts";
import type { Outline } from "./outline.ts";
import type { Pass, Shop } from "./pass-state.ts";
import type { TopologyRule } from "./pod-class.ts";
import { topologyVerdict } from "./topology-verdict.ts";
import { typesVerdict } from "./types-verdict.ts";
import { type Verdict, withHostname } from "./verdict.ts";

/** What stands between a pod and a new node of one pool, in the order of the checks. (02:N-1 to N-3) */
export function verdictOf(pass: Pass, seeker: Seeker, shop: Shop): Verdict {
  const { pool } = shop.template;
  const prospect = newProspect(pass, shop);
  if (prospect === "node-limit") {
    return {
      cause: { code: "node-limit", pool },
      text: `node limits have been exhausted for nodepool (NodePool=${pool})`,
    };
  }
  if (prospect === "limits") {
    return {
      cause: { code: "limits", pool },
      text: `all available instance types exceed limits for nodepool (NodePool=${pool})`,
    };
  }
  return (
    taintVerdict(seeker, shop) ?? requirementsVerdict(pass, seeker, prospect) ?? laterVerdict(pass, seeker, prospect)
  );
}

function taintVerdict({ variant }: Seeker, shop: Shop): Verdict | undefined {
  const tolerations: readonly Toleration[] = variant.tolerations;
  const found = allUntolerated(tolerations, shop.template.nodePool.spec.template.spec.taints ?? []);
  const [taint] = found;
  return taint === undefined ? undefined : { cause: { code: "taint", taint }, text: describeUntolerated(found) };
}

function requirementsVerdict(pass: Pass, { variant }: Seeker, prospect: Prospect): Verdict | undefined {
  const incoming =
    variant.hostname === undefined
      ? variant.incoming.requirements
      : variant.incoming.requirements.add(variant.hostname);
  const found = conflicts(withHostname(prospect), incoming, { allowUndefined: pass.problem.labelPolicy.wellKnown });
  if (found.length === 0) return undefined;
  return {
    cause: { code: "requirements", conflicts: found },
    text: `incompatible requirements, ${describeConflicts(found)}`,
  };
}

/** Volumes, topology, types and reservations: the verdict on the last of the volume alternatives. (02:N-3) */
function laterVerdict(pass: Pass, seeker: Seeker, prospect: Prospect): Verdict {
  const merged = welcome(seeker.variant, prospect) as Outline;
  const { volumeAlternatives } = seeker.entry.podClass;
  const last = volumeAlternatives.at(-1);
  if (last === undefined) return settledVerdict(pass, seeker, { ...prospect, outline: merged });
  const wanted = last.hostname === undefined ? last.requirements : last.requirements.add(last.hostname);
  const found = conflicts(withHostname({ ...prospect, outline: merged }), wanted, {
    allowUndefined: pass.problem.labelPolicy.wellKnown,
  });
  if (found.length > 0) {
    return {
      cause: { code: "volume-requirements", conflicts: found },
      text: `incompatible volume requirements, ${describeConflicts(found)}`,
    };
  }
  return settledVerdict(pass, seeker, { ...prospect, outline: prospect.shop.outlines.merge(merged, last) as Outline });
}

/**
 * Where several domains are equally good, the first says why; but if some only has to wait for reserved capacity, the
 * pod waits. (02 §12.1-3, Y-5)
 */
function settledVerdict(pass: Pass, seeker: Seeker, prospect: Prospect): Verdict {
  let ways: readonly (readonly Requirement[])[] = [[]];
  for (const rule of seeker.variant.rules) {
    const choices = choicesOf(pass, rule, prospect);
    if (choices === undefined) return topologyVerdict(pass, rule, prospect);
    ways = ways.flatMap((way) => choices.map((choice) => [...way, ...choice])).slice(0, mostWays);
  }
  const verdicts = ways.map((way) => wayVerdict(pass, seeker, prospect, way));
  return verdicts.find(({ cause }) => cause.code === "reserved-capacity") ?? (verdicts[0] as Verdict);
}

/** More alternatives than this are not worth explaining one by one. */
const mostWays = 256;

/** Picks are joined first and judged together: picks that contradict each other leave no value at all. (02:N-3c) */
function wayVerdict(pass: Pass, seeker: Seeker, prospect: Prospect, way: readonly Requirement[]): Verdict {
  const { wellKnown } = pass.problem.labelPolicy;
  const node = withHostname(prospect);
  const isLacking = ({ key }: Requirement): boolean => !node.has(key) && !wellKnown.has(key);
  const asked = way.filter(isLacking).reduce((all, pick) => all.replace(pick), node.add(...way));
  const found = conflicts(node, asked, { allowUndefined: wellKnown });
  if (found.length > 0) return { cause: { code: "requirements", conflicts: found }, text: describeConflicts(found) };
  const outline = prospect.shop.outlines.of(prospect.outline.requirements.add(...way));
  return typesVerdict(pass, seeker, { ...prospect, outline });
}

/** What a rule would add to the candidate, one way or another; undefined: nothing will do. */
function choicesOf(
  pass: Pass,
  rule: TopologyRule,
  prospect: Prospect,
): readonly (readonly Requirement[])[] | undefined {
  const { group, self, podDomains } = rule;
  if (group.isHostname) return group.allowsHost(prospect.host, { self, pod: podDomains }) ? [[]] : undefined;
  const options = group.options(podDomains, prospect.outline.get(group.spec.key), self);
  return options.length === 0 ? undefined : options.map((option) => [pass.table.get(option)]);
}
