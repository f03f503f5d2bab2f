import * as z from "zod";
import { kwokDefaultCondition } from "../conditions/kwok-node-class.ts";
import { plainConditionListSchema } from "./condition.ts";
import { schemaPatterns } from "./patterns.ts";
import { objectSchema, type Stored, stringField, withMeta } from "./schema-fields.ts";

/** `karpenter.kwok.sh/v1alpha1` KWOKNodeClass. (01 §1.7) */
export const kwokNodeClassSchema = () =>
  objectSchema(
    {
      spec: withMeta(
        z.object({
          nodeRegistrationDelay: stringField("How long after launch the Node appears.", {
            pattern: schemaPatterns.duration,
          }).optional(),
        }),
        { description: "How simulated nodes behave." },
      ).optional(),
      status: withMeta(z.object({ conditions: plainConditionListSchema.optional() }), {
        description: "The observed state of the class.",
      }).default({ conditions: [kwokDefaultCondition] }),
    },
    { description: "A KWOKNodeClass configures nodes that exist in the API only." },
  );

export type KwokNodeClass = Stored<z.output<ReturnType<typeof kwokNodeClassSchema>>>;
