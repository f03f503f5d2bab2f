import { labels } from "../../api/labels.ts";
import { Requirement } from "../requirement.ts";
import type { Requirements } from "../requirements.ts";
import type { NodeCandidate } from "./fit-on-planned-node.ts";
import type { RefusalCause } from "./refusal.ts";

/** Why a candidate is refused, as data and with upstream's text. */
export interface CandidateVerdict {
  readonly cause: RefusalCause;
  readonly text: string;
}

/** The candidate's requirements with its hostname, as upstream's text prints them. */
export function requirementsWithHostname(candidate: NodeCandidate): Requirements {
  return candidate.requirementState.requirements.add(Requirement.in(labels.hostname, [candidate.hostname]));
}
