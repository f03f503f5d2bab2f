import * as z from "zod";
import { dateTime, int64, meta } from "./fields.ts";
import { patterns } from "./patterns.ts";

const shared = {
  type: meta(z.string().max(316), { description: "What the condition is about.", pattern: patterns.conditionType }),
  status: meta(z.enum(["True", "False", "Unknown"]), { description: "Whether it holds." }),
  lastTransitionTime: meta(dateTime, { description: "When the status last changed.", format: "date-time" }),
  observedGeneration: int64("The generation of the object this was said of.", z.number().min(0)).optional(),
};

const message = meta(z.string().max(32768), { description: "What a person should know about it." });

const condition = meta(
  z.object({
    ...shared,
    reason: meta(z.string().min(1).max(1024), { description: "Why, in one word.", pattern: patterns.conditionReason }),
    message,
  }),
  { description: "One observation about the object." },
);

/** NodeClaims keep a looser form, for objects written before the rule. (01 §0.4) */
const looseCondition = meta(
  z.object({
    ...shared,
    reason: meta(z.string().max(1024), {
      description: "Why, in one word.",
      pattern: patterns.conditionReasonOrEmpty,
    }).optional(),
    message: message.optional(),
  }),
  { description: "One observation about the object." },
);

const description = "What controllers have found out about this object.";
const byType = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] } as const;

export const conditions = meta(z.array(condition), { description, ...byType });
export const looseConditions = meta(z.array(looseCondition), { description, ...byType });
export const plainConditions = meta(z.array(condition), { description });
export type ConditionItem = z.output<typeof looseCondition>;
