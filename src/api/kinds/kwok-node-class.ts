import * as z from "zod";
import { plainConditions } from "./condition.ts";
import { meta, resource, type Stored, text } from "./fields.ts";
import { patterns } from "./patterns.ts";

/** Every object is ready at once: there is nothing to resolve. (01 §1.7) */
const readyAtOnce = {
  conditions: [
    {
      lastTransitionTime: "2024-01-01T01:01:01Z",
      message: "",
      reason: "Ready",
      status: "True" as const,
      type: "Ready",
    },
  ],
};

/** `karpenter.kwok.sh/v1alpha1` KWOKNodeClass. (01 §1.7) */
export const kwokNodeClass = () =>
  resource(
    {
      spec: meta(
        z.object({
          nodeRegistrationDelay: text("How long after launch the Node appears.", {
            pattern: patterns.duration,
          }).optional(),
        }),
        { description: "How simulated machines behave." },
      ).optional(),
      status: meta(z.object({ conditions: plainConditions.optional() }), {
        description: "What is known of the class.",
      }).default(readyAtOnce),
    },
    { description: "A KWOKNodeClass makes nodes that exist in the API only." },
  );

export type KwokNodeClass = Stored<z.output<ReturnType<typeof kwokNodeClass>>>;
