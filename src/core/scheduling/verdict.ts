import { labels } from "../../api/labels.ts";
import { Requirement } from "../requirement.ts";
import type { Requirements } from "../requirements.ts";
import type { Prospect } from "./claims.ts";
import type { Cause } from "./refusal.ts";

/** Why a candidate will not do: as data, and in the words upstream's users know. */
export interface Verdict {
  readonly cause: Cause;
  readonly text: string;
}

/** A candidate's requirements with its hostname, as those words have them. */
export function withHostname(prospect: Prospect): Requirements {
  return prospect.outline.requirements.add(Requirement.in(labels.hostname, [prospect.hostname]));
}
