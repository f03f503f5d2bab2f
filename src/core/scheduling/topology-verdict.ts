import { Requirement } from "../requirement.ts";
import type { CandidateVerdict } from "./candidate-verdict.ts";
import type { NodeCandidate } from "./fit-on-planned-node.ts";
import type { Pass } from "./pass-state.ts";
import type { TopologyRule } from "./topology/topology-group.ts";

const kindNames = {
  spread: "topology spread",
  affinity: "pod affinity",
  "anti-affinity": "pod anti-affinity",
} as const;

/** Upstream's text, which has no closing parenthesis. (02:N-3c) */
export function topologyVerdict(
  pass: Pass,
  { group, podDomains }: TopologyRule,
  candidate: NodeCandidate,
): CandidateVerdict {
  const { key, kind } = group.spec;
  const { counts, text } = pass.domainCounts.of(pass, group);
  const pod = podDomains === undefined ? Requirement.exists(key) : pass.table.get(podDomains);
  const id = candidate.requirementState.get(key);
  const node = group.isHostname
    ? Requirement.in(key, [candidate.hostname])
    : id === undefined
      ? Requirement.exists(key)
      : pass.table.get(id);
  return {
    cause: { code: "topology", kind, key, counts, podDomains: String(pod), nodeDomains: String(node) },
    text: `unsatisfiable topology constraint for ${kindNames[kind]}, key=${key} (counts = ${text}, podDomains = ${pod}, nodeDomains = ${node}`,
  };
}
