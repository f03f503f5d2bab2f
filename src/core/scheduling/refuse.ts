import type { Toleration } from "../../api/kubernetes/pod.ts";
import { labels, resources } from "../../api/labels.ts";
import { Bitset } from "../../util/bitset.ts";
import { conflicts, describeConflicts } from "../compatibility.ts";
import { clash, hostPortsOf } from "../host-ports.ts";
import { checkMinValues, describeMinValues } from "../min-values.ts";
import { Requirement } from "../requirement.ts";
import type { Requirements } from "../requirements.ts";
import { amount, max, merge, min, noResources, type Resources } from "../resources.ts";
import { allUntolerated, describeUntolerated } from "../tolerations.ts";
import { fitOnClaim, type Prospect, type Seeker, welcome } from "./claims.ts";
import { newProspect } from "./commit.ts";
import type { Outline } from "./outline.ts";
import type { Entry, Pass, Shop } from "./pass-state.ts";
import type { TopologyRule } from "./pod-class.ts";
import type { HostPort } from "./problem.ts";
import type { Cause, PoolVerdict, Refusal, TypesCause } from "./refusal.ts";
import type { TopologyGroup } from "./topology/group.ts";
import { variantAt } from "./variants.ts";

/** Why a pod was left over: worked out once the pass has ended, not while it runs. (02 §10.3-11) */
export function refusalOf(pass: Pass, entry: Entry): Refusal {
  const { pod, podClass } = entry;
  if (podClass.usesDra && pass.problem.policy.ignoreDra) {
    const message = "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter";
    return { pod, code: "dynamic-resources", message, pools: [] };
  }
  if (podClass.volumeProblem !== undefined) {
    return {
      pod,
      code: "volume-requirements",
      message: podClass.volumeProblem,
      pools: [],
    };
  }
  if (pass.shops.length === 0) {
    return {
      pod,
      code: "no-templates",
      message: "nodepool requirements filtered out all available instance types",
      pools: [],
    };
  }
  const variant = lastVariant(pass, entry);
  const verdicts: (PoolVerdict & { readonly text: string })[] = [];
  for (const shop of pass.shops) {
    const verdict = verdictOf(pass, { entry, variant }, shop);
    verdicts.push({ pool: shop.template.pool, ...verdict });
    if (verdict.cause.code === "reserved-capacity") break;
  }
  const reserved = verdicts.find(({ cause }) => cause.code === "reserved-capacity");
  const message = reserved?.text ?? verdicts.map(({ text }) => text).join("; ");
  const nearest = verdicts.reduce(
    (best, one) => (nearness(one.cause) > nearness(best.cause) ? one : best),
    verdicts[0] as PoolVerdict,
  );
  return { pod, code: nearest.cause.code, message, pools: verdicts.map(({ pool, cause }) => ({ pool, cause })) };
}

/** How far a pod came at a pool: later checks are nearer misses. */
function nearness({ code }: Cause): number {
  const order: readonly Cause["code"][] = [
    "node-limit",
    "limits",
    "taint",
    "requirements",
    "host-port",
    "volume-limit",
    "volume-requirements",
    "topology",
    "instance-types",
    "resources",
    "min-values",
    "reserved-capacity",
  ];
  return order.indexOf(code);
}

/** The text a pod ends with is that of its last attempt: everything dropped that can be, or held up by reservations. */
export function lastVariant(pass: Pass, entry: Entry): Seeker["variant"] {
  for (let level = 0; ; level++) {
    const variant = variantAt(entry.podClass, level, pass.tools);
    if (variant === undefined) throw new Error("a class has at least one variant");
    const isLast = variantAt(entry.podClass, level + 1, pass.tools) === undefined;
    if (isLast || awaitsReservation(pass, { entry, variant })) return variant;
  }
}

function awaitsReservation(pass: Pass, seeker: Seeker): boolean {
  if (pass.reservations.isEmpty) return false;
  for (const shop of pass.shops) {
    const prospect = newProspect(pass, shop);
    if (typeof prospect === "string") continue;
    if (fitOnClaim(pass, seeker, prospect) !== undefined) return false;
    if (pass.refusedByReservation) return true;
  }
  return false;
}

export interface Verdict {
  readonly cause: Cause;
  readonly text: string;
}

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

/** The outline with its hostname, as upstream's texts have it. */
function withHostname(prospect: Prospect): Requirements {
  return prospect.outline.requirements.add(Requirement.in(labels.hostname, [prospect.hostname]));
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

const kindNames = {
  spread: "topology spread",
  affinity: "pod affinity",
  "anti-affinity": "pod anti-affinity",
} as const;

/** Longer lists of counts are cut. */
const countsShown = 25;

/** 02:N-3c, without a closing parenthesis, as upstream has it. */
function topologyVerdict(pass: Pass, { group, podDomains }: TopologyRule, prospect: Prospect): Verdict {
  const { key, kind } = group.spec;
  const counts = countsOf(pass, group);
  const pod = podDomains === undefined ? Requirement.exists(key) : pass.table.get(podDomains);
  const id = prospect.outline.get(key);
  const node = group.isHostname
    ? Requirement.in(key, [prospect.hostname])
    : id === undefined
      ? Requirement.exists(key)
      : pass.table.get(id);
  const listed = Object.entries(counts).map(([domain, count]) => `${domain}: ${count}`);
  const shown =
    listed.slice(0, countsShown).join(", ") +
    (listed.length > countsShown ? ` and ${listed.length - countsShown} other(s)` : "");
  return {
    cause: { code: "topology", kind, key, counts, podDomains: String(pod), nodeDomains: String(node) },
    text: `unsatisfiable topology constraint for ${kindNames[kind]}, key=${key} (counts = ${shown}, podDomains = ${pod}, nodeDomains = ${node}`,
  };
}

/** Domains and how many pods are in each; every host there is or will be is one. (02:X-2) */
function countsOf(pass: Pass, group: TopologyGroup): Readonly<Record<string, number>> {
  const hosts = [...pass.seats.map(({ node }) => node.hostname), ...pass.claims.map(({ hostname }) => hostname)];
  const counts: (readonly [string, number])[] = group.isHostname
    ? [...new Set([...hosts, ...group.hostnames.keys()])].map((hostname) => [
        hostname,
        group.hostnames.get(hostname) ?? 0,
      ])
    : group.domains.map((domain, index) => [domain, group.counts[index] ?? 0]);
  return Object.fromEntries(counts.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** 02:F-3. */
function typesVerdict(pass: Pass, { entry }: Seeker, prospect: Prospect): Verdict {
  const { shop, outline } = prospect;
  const ports = hostPortsOf(entry.pod);
  const overheads = overheadsMet(shop, ports);
  const { flags, survivors } = judgeTypes(pass, entry, prospect, ports);
  const requirements = outline.requirements.add(Requirement.in(labels.hostname, [prospect.hostname]));
  if (!survivors.isEmpty()) {
    const flexible = checkMinValues(shop.catalogue.typesIn(survivors), outline.requirements);
    if (flexible.kind === "unsatisfied" && pass.problem.policy.minValues === "Strict") {
      const { achieved } = flexible;
      const text = `${describeMinValues(achieved)}, requirements=${requirements}, resources=${resourcesText(entry, overheads)}`;
      return { cause: { code: "min-values", achieved, requirements }, text };
    }
    const text =
      "one or more instance types with compatible reserved offerings are available, but could not be reserved";
    return { cause: { code: "reserved-capacity", lost: false }, text };
  }
  const totals = (overheads.length === 0 ? [noResources] : overheads).map((one) => merge(one, entry.podClass.requests));
  const cause: TypesCause = {
    code: "instance-types",
    ...flags,
    requirements,
    resources: { least: min(...totals), most: max(...totals) },
    largest: max(...shop.catalogue.typesIn(prospect.columns).map(({ capacity }) => capacity)),
  };
  const typo =
    isTypo(entry.podClass.requests) && !flags.fits && flags.matches && flags.offered
      ? " (CPU request >= 1 Million, m vs M typo?)"
      : "";
  return {
    cause,
    text: `${typesText(flags)}, requirements=${requirements}, resources=${resourcesText(entry, overheads)}${typo}`,
  };
}

type Flags = Pick<
  TypesCause,
  "matches" | "fits" | "offered" | "matchesAndFits" | "matchesAndOffered" | "fitsAndOffered"
>;

/** Which of match, size and offering some type had: worked out without stopping at the first. (02:F-1) */
function judgeTypes(
  pass: Pass,
  { podClass }: Entry,
  { shop, outline, columns, used }: Prospect,
  ports: readonly HostPort[],
): { flags: Flags; survivors: Bitset } {
  const { catalogue } = shop;
  const inPlay = catalogue.allSizes(columns); // flags are told of types, not of their sizes
  const matches = catalogue.columnsMatching(outline.byKey).and(inPlay);
  const offered = catalogue.columnsOffered(outline.byKey).and(inPlay);
  const request = pass.requests.get(podClass) as Float64Array;
  const fits = Bitset.empty(catalogue.size);
  const eligible = Bitset.empty(catalogue.size);
  for (const group of shop.daemons) {
    if (clash(ports, group.hostPorts) !== undefined) continue;
    eligible.or(group.columns);
    const total = Float64Array.from(request, (asked, index) => asked + (used[index] ?? 0) + (group.row[index] ?? 0));
    fits.or(catalogue.keepFitting(offered.intersection(group.columns), total));
  }
  matches.and(eligible);
  offered.and(eligible);
  const flags = {
    matches: !matches.isEmpty(),
    fits: !fits.isEmpty(),
    offered: !offered.isEmpty(),
    matchesAndFits: !matches.intersection(fits).andNot(offered).isEmpty(),
    matchesAndOffered: !matches.intersection(offered).andNot(fits).isEmpty(),
    fitsAndOffered: !fits.intersection(offered).andNot(matches).isEmpty(),
  };
  return { flags, survivors: matches.and(fits).and(offered) };
}

/** The first line that applies. (02:F-3) */
function typesText({ matches, fits, offered, matchesAndFits, matchesAndOffered, fitsAndOffered }: Flags): string {
  if (!matches && !fits && !offered)
    return "no instance type met the scheduling requirements or had enough resources or had a required offering";
  if (!matches && !fits) return "no instance type met the scheduling requirements or had enough resources";
  if (!matches && !offered) return "no instance type met the scheduling requirements or had a required offering";
  if (!fits && !offered) return "no instance type had enough resources or had a required offering";
  if (!matches) return "no instance type met all requirements";
  if (!fits) return "no instance type has enough resources";
  if (!offered) return "no instance type has the required offering";
  if (matchesAndFits)
    return "no instance type which met the scheduling requirements and had enough resources, had a required offering";
  if (fitsAndOffered)
    return "no instance type which had enough resources and the required offering met the scheduling requirements";
  if (matchesAndOffered)
    return "no instance type which met the scheduling requirements and the required offering had the required resources";
  return "no instance type met the requirements/resources/offering tuple";
}

/** The pod with the daemons it would meet; a range where types differ in that. Types without daemons do not count. */
function resourcesText({ podClass }: Entry, overheads: readonly Resources[]): string {
  const least = json(merge(min(...overheads), podClass.requests));
  const most = json(merge(max(...overheads), podClass.requests));
  if (Object.keys(min(...overheads)).length === 0) return json(podClass.requests);
  return least === most ? least : `min=${least}, max=${most}`;
}

/** What daemons ask for on types the pod's ports leave open. */
function overheadsMet({ daemons }: Shop, ports: readonly HostPort[]): readonly Resources[] {
  return daemons
    .filter(({ hostPorts, overhead }) => clash(ports, hostPorts) === undefined && Object.keys(overhead).length > 0)
    .map(({ overhead }) => overhead);
}

function json(list: Resources): string {
  const sorted = Object.keys(list)
    .sort()
    .map((name) => [name, amount(list, name).toString()]);
  return JSON.stringify(Object.fromEntries(sorted));
}

function isTypo(requests: Resources): boolean {
  return amount(requests, resources.cpu).value() >= 1_000_000n;
}
