import * as z from "zod";
import type { DeepReadonly } from "../object.ts";
import { plainConditions } from "./condition.ts";
import { apiVersion, kind, meta, metadata, text } from "./fields.ts";
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
  meta(
    z.object({
      apiVersion: apiVersion.optional(),
      kind: kind.optional(),
      metadata: metadata.optional(),
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
    }),
    { description: "A KWOKNodeClass makes nodes that exist in the API only." },
  );

type Wire = z.output<ReturnType<typeof kwokNodeClass>>;
export type KwokNodeClass = DeepReadonly<
  Wire & { apiVersion: string; kind: string; metadata: NonNullable<Wire["metadata"]> }
>;
