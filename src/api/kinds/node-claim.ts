import * as z from "zod";
import type { Provider } from "../label-policy.ts";
import { looseConditionListSchema } from "./condition.ts";
import {
  expireAfterSchema,
  nodeClassRefSchema,
  requirementListSchema,
  taintListSchema,
  terminationGracePeriodSchema,
} from "./node-template.ts";
import {
  celRules,
  dateTimeField,
  objectSchema,
  resourceListField,
  type Stored,
  stringField,
  withMeta,
} from "./schema-fields.ts";

const spec = (provider: Provider) =>
  withMeta(
    z.object({
      taints: taintListSchema("Taints the node keeps; pods must tolerate them.").optional(),
      startupTaints: taintListSchema("Taints the node boots with and something else removes.").optional(),
      requirements: requirementListSchema(provider, "claim-requirement"),
      resources: withMeta(
        z.object({
          requests: resourceListField("The resources the node must provide for its pods.").optional(),
        }),
        { description: "The resources requested." },
      ).optional(),
      nodeClassRef: nodeClassRefSchema([]),
      terminationGracePeriod: terminationGracePeriodSchema.optional(),
      expireAfter: expireAfterSchema,
    }),
    {
      description: "The requested node.",
      ...celRules({ id: "NC1", rule: "self == oldSelf", message: "spec is immutable" }),
    },
  );

const status = withMeta(
  z.object({
    nodeName: stringField("The name of its Node.").optional(),
    providerID: stringField("The provider ID of the instance.").optional(),
    imageID: stringField("The image of the instance.").optional(),
    capacity: resourceListField("The total capacity of the instance.").optional(),
    allocatable: resourceListField("The capacity available to pods.").optional(),
    lastPodEventTime: withMeta(dateTimeField, {
      description: "When a pod was last added or removed.",
      format: "date-time",
    }).optional(),
    conditions: looseConditionListSchema.optional(),
  }),
  { description: "The observed state of the node." },
);

/** `karpenter.sh/v1` NodeClaim. (01 §1.3) */
export const nodeClaimSchema = (provider: Provider) =>
  objectSchema(
    {
      spec: spec(provider),
      status: status.optional(),
    },
    { description: "A NodeClaim requests one node from the cloud provider and tracks it until it is gone." },
  );

export type NodeClaim = Stored<z.output<ReturnType<typeof nodeClaimSchema>>>;
