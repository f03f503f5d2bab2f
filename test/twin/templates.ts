import type { Pod } from "../../src/api/kubernetes/pod.ts";
import { labels } from "../../src/api/labels.ts";
import { intersects, isCompatible } from "../../src/core/compatibility.ts";
import { hostPortsOf } from "../../src/core/host-ports.ts";
import type { InstanceType } from "../../src/core/instance-type.ts";
import { podRequests } from "../../src/core/pod-requests.ts";
import { Requirement } from "../../src/core/requirement.ts";
import { Requirements } from "../../src/core/requirements.ts";
import { mergeResources, noResources } from "../../src/core/resources.ts";
import type { EmptyPool } from "../../src/core/scheduling/decision.ts";
import type { Pool, SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { firstUntoleratedTaint, withPreferNoScheduleToleration } from "../../src/core/tolerations.ts";
import { filterTypes } from "./filter.ts";
import { usesDynamicResources } from "./pod-view.ts";
import type { DaemonGroup, Template } from "./world.ts";

export interface Templates {
  readonly templates: readonly Template[];
  readonly emptyPools: readonly EmptyPool[];
}

export function openTemplates(problem: SchedulingProblem): Templates {
  const templates: Template[] = [];
  const emptyPools: EmptyPool[] = [];
  for (const pool of inOrder(problem.pools)) {
    const requirements = templateRequirements(pool, problem);
    const found = usableTypes(pool, requirements, problem);
    if (found.kind === "refused") {
      emptyPools.push({ pool: nameOf(pool), becauseOfMinValues: found.becauseOfMinValues });
      continue;
    }
    const { taints = [] } = pool.nodePool.spec.template.spec;
    const template = { pool: nameOf(pool), requirements, taints, types: found.types };
    templates.push({ ...template, daemonGroups: daemonGroups(template, problem) });
  }
  return { templates, emptyPools };
}

export function nameOf({ nodePool }: Pool): string {
  return nodePool.metadata.name ?? "";
}

/** 02:T-1: weight, then name, both descending. */
function inOrder(pools: readonly Pool[]): readonly Pool[] {
  const weight = ({ nodePool }: Pool): number => nodePool.spec.weight ?? 0;
  return [...pools].sort((a, b) => weight(b) - weight(a) || (nameOf(a) < nameOf(b) ? 1 : -1));
}

/** 02:T-2. */
function templateRequirements(pool: Pool, { labelPolicy }: SchedulingProblem): Requirements {
  const { metadata, spec } = pool.nodePool.spec.template;
  const { group, kind, name } = spec.nodeClassRef;
  const nodeLabels = {
    ...metadata?.labels,
    [labels.nodePool]: nameOf(pool),
    [`${group}/${kind.toLowerCase()}`]: name,
  };
  return Requirements.fromItems(spec.requirements, labelPolicy).add(
    ...Requirements.fromLabels(nodeLabels, labelPolicy),
    Requirement.in(labels.registered, ["true"]),
    Requirement.in(labels.initialized, ["true"]),
  );
}

/** 02:T-6: a pool that could not make a node for an empty pod is left out. */
function usableTypes({ instanceTypes }: Pool, requirements: Requirements, { labelPolicy, policy }: SchedulingProblem) {
  return filterTypes({
    types: instanceTypes,
    requirements,
    wellKnown: labelPolicy.wellKnown,
    podRequests: noResources,
    podPorts: [],
    totalRequests: noResources,
    daemonGroups: [{ types: instanceTypes, overhead: noResources, ports: [] }],
    groupPorts: [[]],
    relaxMinValues: policy.minValues === "BestEffort",
  });
}

type Undaemoned = Omit<Template, "daemonGroups">;

/** 02:G-2: types with the same daemons, in the order of each group's first type. */
function daemonGroups(template: Undaemoned, problem: SchedulingProblem): readonly DaemonGroup[] {
  const groups: { daemons: readonly Pod[]; types: InstanceType[] }[] = [];
  for (const type of template.types) {
    const daemons = problem.daemons.filter((daemon) => willRunOn(daemon, { type, template, problem }));
    const group = groups.find((one) => isSame(one.daemons, daemons));
    if (group === undefined) groups.push({ daemons, types: [type] });
    else group.types.push(type);
  }
  return groups.map(({ daemons, types }) => ({
    types,
    overhead: mergeResources(...daemons.map((daemon) => podRequests(daemon))),
    ports: daemons.flatMap(hostPortsOf),
  }));
}

function isSame(some: readonly Pod[], others: readonly Pod[]): boolean {
  return some.length === others.length && some.every((pod, at) => pod === others[at]);
}

interface Landing {
  readonly type: InstanceType;
  readonly template: Undaemoned;
  readonly problem: SchedulingProblem;
}

/** 02:G-1: taints, then any of its node affinity terms. Preferences, pods and spreads are not looked at. */
function willRunOn(daemon: Pod, { type, template, problem }: Landing): boolean {
  const { labelPolicy, policy } = problem;
  if (policy.ignoreDra && usesDynamicResources(daemon)) return false;
  if (firstUntoleratedTaint(withPreferNoScheduleToleration(daemon.spec.tolerations), template.taints) !== undefined)
    return false;
  return daemonTerms(daemon, problem).some(
    (wanted) =>
      isCompatible(template.requirements, wanted, { allowUndefined: labelPolicy.wellKnown }) &&
      intersects(type.requirements, wanted),
  );
}

/** Its node selector with each of its required terms: every one counts, everywhere. (02 §12.2-5) */
export function daemonTerms(daemon: Pod, { labelPolicy }: SchedulingProblem): readonly Requirements[] {
  const { spec } = daemon;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required?.nodeSelectorTerms ?? [];
  if (terms.length === 0) return [Requirements.fromPodStrictly(spec, labelPolicy)];
  return terms.map((term) => {
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } };
    return Requirements.fromPodStrictly({ ...spec, affinity: { nodeAffinity } }, labelPolicy);
  });
}
