import { formatPath } from "../../api/problem.ts";
import type { UnusablePoolReason } from "../../core/round/usable-pools.ts";
import { knownRegions } from "../../providers/aws/regions.ts";
import type { ScenarioNote } from "../../state/scenario.ts";
import { countText } from "../text-table.ts";
import { defaultPoolDescriptions } from "./default-pool.ts";
import { inputNoteTexts } from "./input-notes.ts";
import type { Plan } from "./make-plan.ts";

/** What the reader of a plan should also know, one sentence each. */
export function planNotes(plan: Plan): readonly string[] {
  const { scenario, decision, hasDefaultPool, catalogue, ignoredKinds, inputNotes } = plan;
  const empty = decision.emptyPools.map(({ pool, becauseOfMinValues }) => {
    const cause = becauseOfMinValues ? " (because of minValues)" : "";
    return `NodePool ${pool} matches no available instance type${cause}`;
  });
  return [
    ...(hasDefaultPool ? [defaultPoolText(catalogue.provider)] : []),
    ...scenario.notes.map(noteText),
    ...empty,
    ...inputNoteTexts(inputNotes),
    ...(plan.pricePerHourWithoutJobs === undefined ? [] : [sharedJobsText(plan.pricePerHourWithoutJobs)]),
    ...(catalogue.region === undefined || knownRegions.includes(catalogue.region)
      ? []
      : [assumedRegionText(catalogue.region)]),
    ...priceBookTexts(plan),
    ...(ignoredKinds.size === 0 ? [] : [ignoredKindsText(ignoredKinds)]),
  ];
}

/** What the user's prices leave open: types without one, and prices of types that are not there. */
function priceBookTexts({ catalogue: { priceBook, region }, scenario }: Plan): readonly string[] {
  if (priceBook === undefined) return [];
  const types = new Map(
    scenario.problem.pools.flatMap(({ instanceTypes }) => instanceTypes.map((type) => [type.name, type] as const)),
  );
  const rest = [...types.values()].filter((type) => !priceBook.covers(type, region));
  const unknown = priceBook.writtenTypes.filter((type) => !types.has(type)).sort();
  return [
    ...(rest.length === 0 || types.size === 0
      ? []
      : [
          `--prices has no price for ${rest.length} of ${types.size} instance types; they keep the price they have without it`,
        ]),
    ...(unknown.length === 0 || types.size === 0
      ? []
      : [`--prices has prices of instance types that are not offered here: ${shortList(unknown)}`]),
  ];
}

function shortList(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(", ");
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}

function assumedRegionText(region: string): string {
  return `instance types and prices of ${region} are not part of this program: it is planned as if it offered what us-east-1 does, at about the same price; check the zones and give your prices with --prices`;
}

function defaultPoolText(provider: Plan["catalogue"]["provider"]): string {
  return `no NodePool was given; using a default one (${defaultPoolDescriptions[provider]}); add your own with -f nodepool.yaml`;
}

const unusablePoolTexts: Readonly<Record<UnusablePoolReason, string>> = {
  "foreign-class": "its node class belongs to another provider",
  static: "it is static (spec.replicas) and not used for pending pods",
  deleting: "it is being deleted",
  "not-ready": "it is not Ready",
};

function noteText(note: ScenarioNote): string {
  switch (note.code) {
    case "pool-passed-over":
      return `NodePool ${note.pool} is not used: ${unusablePoolTexts[note.because]}`;
    case "pool-without-types":
      return `NodePool ${note.pool} is not used: its node class offers no instance types`;
    case "overlay-refused": {
      const { overlay, ...fault } = note.fault;
      const [first] = fault.reason === "Conflict" ? [] : fault.problems;
      const why =
        fault.reason === "Conflict" ? fault.message : `${formatPath(first?.path ?? [])} ${first?.message ?? ""}`;
      return `NodeOverlay ${overlay.metadata.name ?? ""} is not applied: ${why}`;
    }
    case "buffer-unresolved":
      return `CapacityBuffer ${note.buffer.name ?? ""} is not resolved: ${note.because}`;
    case "claim-not-launched":
      return `NodeClaim ${note.claim} is not launched yet and is ignored`;
    case "static-pool-limited":
      return note.by === "limits"
        ? `NodePool ${note.pool} has ${note.nodes} of its ${note.replicas} replicas: spec.limits.nodes allows no more`
        : `NodePool ${note.pool} has ${note.replicas} replicas; only ${note.nodes} of them are planned`;
    case "pool-not-launchable":
      return `NodePool ${note.pool} has no nodes: no instance type that is available meets its requirements`;
    case "rounds-not-settled":
      return `the plan was still changing after ${countText(note.rounds, "round")}: nodes and refusals may differ in the end`;
  }
}

function sharedJobsText(pricePerHour: number): string {
  return `Jobs share nodes with other pods; the monthly price is that of a plan without them, $${pricePerHour.toFixed(4)}/hour`;
}

function ignoredKindsText(ignoredKinds: ReadonlyMap<string, number>): string {
  const kinds = [...ignoredKinds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, count]) => `${kind} (${count})`);
  return `ignored kinds: ${kinds.join(", ")}`;
}
