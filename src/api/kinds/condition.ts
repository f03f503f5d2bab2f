import * as z from "zod";
import { schemaPatterns } from "./patterns.ts";
import { dateTimeField, int64Field, withMeta } from "./schema-fields.ts";

const shared = {
  type: withMeta(z.string().max(316), {
    description: "What the condition is about.",
    pattern: schemaPatterns.conditionType,
  }),
  status: withMeta(z.enum(["True", "False", "Unknown"]), { description: "Whether it holds." }),
  lastTransitionTime: withMeta(dateTimeField, { description: "When the status last changed.", format: "date-time" }),
  observedGeneration: int64Field("The generation of the object this was said of.", z.number().min(0)).optional(),
};

const message = withMeta(z.string().max(32768), { description: "What a person should know about it." });

const condition = withMeta(
  z.object({
    ...shared,
    reason: withMeta(z.string().min(1).max(1024), {
      description: "Why, in one word.",
      pattern: schemaPatterns.conditionReason,
    }),
    message,
  }),
  { description: "One observation about the object." },
);

/** NodeClaims have a looser form, for objects written before the rule. (01 §0.4) */
const looseCondition = withMeta(
  z.object({
    ...shared,
    reason: withMeta(z.string().max(1024), {
      description: "Why, in one word.",
      pattern: schemaPatterns.conditionReasonOrEmpty,
    }).optional(),
    message: message.optional(),
  }),
  { description: "One observation about the object." },
);

const description = "What controllers have found out about this object.";
const byType = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] } as const;

export const conditionListSchema = withMeta(z.array(condition), { description, ...byType });
export const looseConditionListSchema = withMeta(z.array(looseCondition), { description, ...byType });
export const plainConditionListSchema = withMeta(z.array(condition), { description });
