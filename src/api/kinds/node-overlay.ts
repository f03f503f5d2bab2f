import * as z from "zod";
import type { Provider } from "../label-policy.ts";
import { conditionListSchema } from "./condition.ts";
import { overlayRequirementListSchema } from "./node-template.ts";
import { schemaPatterns } from "./patterns.ts";
import {
  celRules,
  int32Field,
  objectField,
  objectSchema,
  resourceListField,
  type Stored,
  stringField,
} from "./schema-fields.ts";

const spec = (provider: Provider) =>
  objectField(
    "Which instance types to change, and how.",
    {
      requirements: overlayRequirementListSchema(provider),
      price: stringField("The price to assume, per hour.", { pattern: schemaPatterns.price }).optional(),
      priceAdjustment: stringField("A signed change of the price: `+0.1`, `-5%`.", {
        pattern: schemaPatterns.priceAdjustment,
      }).optional(),
      capacity: resourceListField("Extended resources the instance types have in addition.", {
        ...celRules({
          id: "NO2",
          rule: '!("cpu" in self || "memory" in self || "ephemeral-storage" in self || "pods" in self)',
          message: "cpu, memory, ephemeral-storage and pods cannot be overlaid",
        }),
      }).optional(),
      weight: int32Field("Overlays of higher weight take precedence.", z.number().min(1).max(10000)).optional(),
    },
    celRules({
      id: "NO1",
      rule: "!(has(self.price) && has(self.priceAdjustment))",
      message: "set price or priceAdjustment, not both",
    }),
  );

/** `karpenter.sh/v1alpha1` NodeOverlay. (01 §1.4) */
export const nodeOverlaySchema = (provider: Provider) =>
  objectSchema(
    {
      spec: spec(provider),
      status: objectField("The observed state of the overlay.", {
        conditions: conditionListSchema.optional(),
      }).optional(),
    },
    { description: "A NodeOverlay changes the price or capacity scheduling assumes for some instance types." },
  );

export type NodeOverlay = Stored<z.output<ReturnType<typeof nodeOverlaySchema>>>;
/** As people write it: what has a default may be left out. */
export type NodeOverlayInput = Stored<z.input<ReturnType<typeof nodeOverlaySchema>>>;
