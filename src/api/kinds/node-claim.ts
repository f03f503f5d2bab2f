import type * as z from "zod";
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
  objectField,
  objectSchema,
  resourceListField,
  type Stored,
  stringField,
} from "./schema-fields.ts";

const spec = (provider: Provider) =>
  objectField(
    "The requested node.",
    {
      taints: taintListSchema("Taints the node keeps; pods must tolerate them.").optional(),
      startupTaints: taintListSchema("Taints the node boots with and something else removes.").optional(),
      requirements: requirementListSchema(provider, "claim-requirement"),
      resources: objectField("The resources requested.", {
        requests: resourceListField("The resources the node must provide for its pods.").optional(),
      }).optional(),
      nodeClassRef: nodeClassRefSchema([]),
      terminationGracePeriod: terminationGracePeriodSchema.optional(),
      expireAfter: expireAfterSchema,
    },
    celRules({ id: "NC1", rule: "self == oldSelf", message: "spec is immutable" }),
  );

const status = objectField("The observed state of the node.", {
  nodeName: stringField("The name of its Node.").optional(),
  providerID: stringField("The provider ID of the instance.").optional(),
  imageID: stringField("The image of the instance.").optional(),
  capacity: resourceListField("The total capacity of the instance.").optional(),
  allocatable: resourceListField("The capacity available to pods.").optional(),
  lastPodEventTime: dateTimeField("When a pod was last added or removed.").optional(),
  conditions: looseConditionListSchema.optional(),
});

/** `karpenter.sh/v1` NodeClaim. (01 §1.3) */
export const nodeClaimSchema = (provider: Provider) =>
  objectSchema(
    { spec: spec(provider), status: status.optional() },
    { description: "A NodeClaim requests one node from the cloud provider and tracks it until it is gone." },
  );

export type NodeClaim = Stored<z.output<ReturnType<typeof nodeClaimSchema>>>;
/** As people write it: what has a default may be left out. */
export type NodeClaimInput = Stored<z.input<ReturnType<typeof nodeClaimSchema>>>;
