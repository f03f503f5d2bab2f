import * as z from "zod";
import type { Provider } from "../label-policy.ts";
import { conditions } from "./condition.ts";
import { int32, meta, resource, resourceList, rules, type Stored, text } from "./fields.ts";
import { overlayRequirementList } from "./node-template.ts";
import { patterns } from "./patterns.ts";

const spec = (provider: Provider) =>
  meta(
    z.object({
      requirements: overlayRequirementList(provider),
      price: text("The price to assume, per hour.", { pattern: patterns.price }).optional(),
      priceAdjustment: text("A signed change of the price: `+0.1`, `-5%`.", {
        pattern: patterns.priceAdjustment,
      }).optional(),
      capacity: resourceList("Extended resources the types have, though the provider does not say so.", {
        ...rules({
          id: "NO2",
          rule: '!("cpu" in self || "memory" in self || "ephemeral-storage" in self || "pods" in self)',
          message: "cpu, memory, ephemeral-storage and pods cannot be overlaid",
        }),
      }).optional(),
      weight: int32("Overlays of higher weight win.", z.number().min(1).max(10000)).optional(),
    }),
    {
      description: "What to assume of which instance types.",
      ...rules({
        id: "NO1",
        rule: "!(has(self.price) && has(self.priceAdjustment))",
        message: "set price or priceAdjustment, not both",
      }),
    },
  );

/** `karpenter.sh/v1alpha1` NodeOverlay. (01 §1.4) */
export const nodeOverlay = (provider: Provider) =>
  resource(
    {
      spec: spec(provider),
      status: meta(z.object({ conditions: conditions.optional() }), {
        description: "What is known of the overlay.",
      }).optional(),
    },
    { description: "A NodeOverlay changes the price or capacity scheduling assumes for some instance types." },
  );

export type NodeOverlay = Stored<z.output<ReturnType<typeof nodeOverlay>>>;
