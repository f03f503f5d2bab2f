import { labels } from "../../api/labels.ts";
import { Requirement } from "../requirement.ts";
import type { Requirements } from "../requirements.ts";
import type { NodeCandidate } from "./fit-on-planned-node.ts";
import type { RefusalCause } from "./refusal.ts";

/** Why a candidate will not do: as data, and in the words upstream's users know. */
export interface CandidateVerdict {
  readonly cause: RefusalCause;
  readonly text: string;
}

/** A candidate's requirements with its hostname, as those words have them. */
export function requirementsWithHostname(candidate: NodeCandidate): Requirements {
  return candidate.requirementState.requirements.add(Requirement.in(labels.hostname, [candidate.hostname]));
}
