import type * as z from "zod";
import { kwokDefaultCondition } from "../conditions/kwok-node-class.ts";
import { plainConditionListSchema } from "./condition.ts";
import { schemaPatterns } from "./patterns.ts";
import { objectField, objectSchema, type Stored, stringField } from "./schema-fields.ts";

/** `karpenter.kwok.sh/v1alpha1` KWOKNodeClass. (01 §1.7) */
export const kwokNodeClassSchema = () =>
  objectSchema(
    {
      spec: objectField("How simulated nodes behave.", {
        nodeRegistrationDelay: stringField("How long after launch the Node appears.", {
          pattern: schemaPatterns.duration,
        }).optional(),
      }).optional(),
      status: objectField("The observed state of the class.", {
        conditions: plainConditionListSchema.optional(),
      }).default({ conditions: [kwokDefaultCondition] }),
    },
    { description: "A KWOKNodeClass configures nodes that exist in the API only." },
  );

export type KwokNodeClass = Stored<z.output<ReturnType<typeof kwokNodeClassSchema>>>;
/** As people write it: what has a default may be left out. */
export type KwokNodeClassInput = Stored<z.input<ReturnType<typeof kwokNodeClassSchema>>>;
