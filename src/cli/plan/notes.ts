import { formatPath } from "../../api/problem.ts";
import type { ScenarioNote } from "../../core/scenario/scenario.ts";
import type { UnusablePoolReason } from "../../core/scenario/usable-pools.ts";
import { defaultPoolDescriptions } from "./default-pool.ts";
import type { Plan } from "./make-plan.ts";

/** What a reader of the plan should know besides, one sentence each. */
export function planNotes({ scenario, decision, hasDefaultPool, catalogue, ignoredKinds }: Plan): readonly string[] {
  const empty = decision.emptyPools.map(({ pool, becauseOfMinValues }) => {
    const cause = becauseOfMinValues ? " (because of minValues)" : "";
    return `pool ${pool} leaves no instance type that can be had${cause}`;
  });
  return [
    ...(hasDefaultPool ? [defaultPoolText(catalogue.provider)] : []),
    ...scenario.notes.map(noteText),
    ...empty,
    ...(ignoredKinds.size === 0 ? [] : [ignoredKindsText(ignoredKinds)]),
  ];
}

function defaultPoolText(provider: Plan["catalogue"]["provider"]): string {
  return `no NodePool was given: planned with one of ours (${defaultPoolDescriptions[provider]}); add yours with -f to plan with it`;
}

const unusablePoolTexts: Readonly<Record<UnusablePoolReason, string>> = {
  "foreign-class": "its node class belongs to another provider",
  static: "it has replicas, and so serves no pending pods",
  deleting: "it is being deleted",
  "not-ready": "it is not Ready",
};

function noteText(note: ScenarioNote): string {
  switch (note.code) {
    case "pool-passed-over":
      return `pool ${note.pool} was passed over: ${unusablePoolTexts[note.because]}`;
    case "pool-without-types":
      return `pool ${note.pool} was passed over: its node class sells no instance types`;
    case "overlay-refused": {
      const { overlay, ...fault } = note.fault;
      const [first] = fault.reason === "Conflict" ? [] : fault.problems;
      const why =
        fault.reason === "Conflict" ? fault.message : `${formatPath(first?.path ?? [])} ${first?.message ?? ""}`;
      return `overlay ${overlay.metadata.name ?? ""} is not applied: ${why}`;
    }
    case "buffer-unresolved":
      return `buffer ${note.buffer.name ?? ""} keeps no room: ${note.because}`;
    case "claim-not-launched":
      return `NodeClaim ${note.claim} is not launched yet, and counts for nothing`;
  }
}

function ignoredKindsText(ignoredKinds: ReadonlyMap<string, number>): string {
  const kinds = [...ignoredKinds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, count]) => `${kind} (${count})`);
  return `not looked at: ${kinds.join(", ")}`;
}
