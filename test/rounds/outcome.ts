import { labels } from "../../src/api/labels.ts";

/** A new node, as far as it is decided. */
export interface OutcomeNode {
  readonly pool: string;
  readonly type: string;
  readonly capacityType: string;
  /** Where it may be; one zone if that is decided. */
  readonly zones: readonly string[];
}

/** What came of an input: its new nodes, and how many pods of each app are refused for which reason. */
export interface Outcome {
  readonly nodes: readonly OutcomeNode[];
  /** `app: message` to a count. */
  readonly refused: Readonly<Record<string, number>>;
}

type Labels = Readonly<Record<string, string>> | undefined;

/** Pods are named differently in a plan and in a cluster: what they have in common is their app. */
export function appOf({
  name = "",
  labels: own,
}: {
  readonly name?: string | undefined;
  readonly labels?: Labels;
}): string {
  return own?.["app"] ?? name;
}

export function nodeOfLabels(own: Labels): OutcomeNode {
  const of = (key: string): string => own?.[key] ?? "";
  return {
    pool: of(labels.nodePool),
    type: of(labels.instanceType),
    capacityType: of(labels.capacityType),
    zones: [of(labels.zone)],
  };
}

export function counted(keys: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const key of [...keys].sort()) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
}

/** A refusal without its figures: they name zones that were drawn, and how many pods are in each. */
export function reasonOf(message: string): string {
  const parts = message.split("; ").map((part) => part.replace(/[,(=].*$/s, "").trim());
  return [...new Set(parts)].sort().join("; ");
}

/**
 * What differs between what was played and the plans of several seeds, or undefined. Seeds break ties between zones: one of
 * the plans has to be met, and where they disagree, zones may change their names.
 */
export function difference(plans: readonly Outcome[], played: Outcome): string | undefined {
  const isDrawn = new Set(plans.map(zoneText)).size > 1;
  const renamings = isDrawn ? permutations(zonesOf([...plans, played])) : [new Map<string, string>()];
  const differences = plans.map((planned) => differenceOf(planned, played, renamings));
  return differences.includes(undefined) ? undefined : differences[0];
}

type Renaming = ReadonlyMap<string, string>;

function differenceOf(planned: Outcome, played: Outcome, renamings: readonly Renaming[]): string | undefined {
  const lines = [
    ...changedCounts("node", kindCounts(planned), kindCounts(played)),
    ...changedCounts("refused", planned.refused, played.refused),
  ];
  if (lines.length > 0) return lines.join("\n");
  const fits = renamings.some((renaming) =>
    zonesFit(
      planned.nodes,
      played.nodes.map((node) => renamed(node, renaming)),
    ),
  );
  return fits ? undefined : `zones: planned ${zoneText(planned)}\nplayed ${zoneText(played)}`;
}

function renamed(node: OutcomeNode, renaming: Renaming): OutcomeNode {
  return { ...node, zones: node.zones.map((zone) => renaming.get(zone) ?? zone) };
}

function zonesOf(outcomes: readonly Outcome[]): readonly string[] {
  return [...new Set(outcomes.flatMap(({ nodes }) => nodes.flatMap(({ zones }) => zones)))].sort();
}

/** Every way to call zones by each other's names. */
function permutations(zones: readonly string[]): readonly Renaming[] {
  const orders = (rest: readonly string[]): readonly (readonly string[])[] =>
    rest.length === 0
      ? [[]]
      : rest.flatMap((first) => orders(rest.filter((one) => one !== first)).map((others) => [first, ...others]));
  return orders(zones).map((order) => new Map(zones.map((zone, index) => [zone, order[index] as string])));
}

function kindCounts({ nodes }: Outcome): Readonly<Record<string, number>> {
  return counted(nodes.map(kindOf));
}

function kindOf({ pool, type, capacityType }: OutcomeNode): string {
  return `${pool} ${type} ${capacityType}`;
}

function changedCounts(
  what: string,
  planned: Readonly<Record<string, number>>,
  played: Readonly<Record<string, number>>,
): readonly string[] {
  const keys = [...new Set([...Object.keys(planned), ...Object.keys(played)])].sort();
  return keys
    .filter((key) => planned[key] !== played[key])
    .map((key) => `${what} ${key}: planned ${planned[key] ?? 0}, played ${played[key] ?? 0}`);
}

function zoneText({ nodes }: Outcome): string {
  return nodes
    .map((node) => `${kindOf(node)} in ${node.zones.length > 1 ? "any" : node.zones}`)
    .sort()
    .join(", ");
}

/** Whether each played node is where a planned node of its kind may be. */
function zonesFit(planned: readonly OutcomeNode[], played: readonly OutcomeNode[]): boolean {
  const matched = new Map<OutcomeNode, OutcomeNode>();
  const find = (node: OutcomeNode, tried: Set<OutcomeNode>): boolean => {
    for (const plan of planned) {
      const fits = kindOf(plan) === kindOf(node) && plan.zones.includes(node.zones[0] ?? "");
      if (!fits || tried.has(plan)) continue;
      tried.add(plan);
      const taken = matched.get(plan);
      if (taken !== undefined && !find(taken, tried)) continue;
      matched.set(plan, node);
      return true;
    }
    return false;
  };
  return played.every((node) => find(node, new Set()));
}
