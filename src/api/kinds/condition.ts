import * as z from "zod";
import { schemaPatterns } from "./patterns.ts";
import { dateTimeField, enumField, int64Field, objectField, withMeta } from "./schema-fields.ts";

const shared = {
  type: withMeta(z.string().max(316), {
    description: "The type of the condition.",
    pattern: schemaPatterns.conditionType,
  }),
  status: enumField("The status of the condition.", ["True", "False", "Unknown"]),
  lastTransitionTime: dateTimeField("When the status last changed."),
  observedGeneration: int64Field("The generation of the object that was observed.", z.number().min(0)).optional(),
};

const message = withMeta(z.string().max(32768), { description: "A human-readable explanation." });

const condition = objectField("One condition of the object.", {
  ...shared,
  reason: withMeta(z.string().min(1).max(1024), {
    description: "A machine-readable reason.",
    pattern: schemaPatterns.conditionReason,
  }),
  message,
});

/** NodeClaims have a looser form, for objects written before the rule. (01 §0.4) */
const looseCondition = objectField("One condition of the object.", {
  ...shared,
  reason: withMeta(z.string().max(1024), {
    description: "A machine-readable reason.",
    pattern: schemaPatterns.conditionReasonOrEmpty,
  }).optional(),
  message: message.optional(),
});

const description = "What controllers have found out about this object.";
const byType = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] } as const;

export const conditionListSchema = withMeta(z.array(condition), { description, ...byType });
export const looseConditionListSchema = withMeta(z.array(looseCondition), { description, ...byType });
export const plainConditionListSchema = withMeta(z.array(condition), { description });
