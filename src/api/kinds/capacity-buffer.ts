import * as z from "zod";
import { conditionListSchema } from "./condition.ts";
import {
  celRules,
  int32Field,
  int64Field,
  objectField,
  objectSchema,
  resourceListField,
  type Stored,
  stringField,
  withMeta,
} from "./schema-fields.ts";

const defaultProvisioningStrategy = "buffer.x-k8s.io/active-capacity";

const nonEmptyString = (description: string) => withMeta(z.string().min(1), { description });
const podTemplateRef = z.object({ name: nonEmptyString("A PodTemplate in the same namespace.") });

const spec = objectField(
  "The capacity to keep free.",
  {
    provisioningStrategy: stringField("How the buffer is provisioned.").default(defaultProvisioningStrategy),
    podTemplateRef: withMeta(podTemplateRef, {
      description: "The pod template of one chunk of the buffer.",
    }).optional(),
    scalableRef: objectField("The workload whose pod is one chunk of the buffer.", {
      apiGroup: stringField("Empty or `apps`.").optional(),
      kind: nonEmptyString("Deployment, StatefulSet or ReplicaSet."),
      name: nonEmptyString("The name of the workload."),
    }).optional(),
    replicas: int32Field("A fixed number of chunks.", z.number().min(0)).optional(),
    percentage: int32Field("Chunks as a percentage of the workload's replicas.", z.number().min(0)).optional(),
    limits: resourceListField("The maximum resources of the whole buffer.").optional(),
  },
  celRules(
    {
      id: "CB1",
      rule: "!has(self.podTemplateRef) || has(self.replicas) || has(self.limits)",
      message: "with podTemplateRef, set replicas or limits",
    },
    {
      id: "CB2",
      rule: "!(has(self.podTemplateRef) && has(self.scalableRef))",
      message: "set podTemplateRef or scalableRef, not both",
    },
  ),
);

const status = objectField("The observed state of the buffer.", {
  podTemplateRef: withMeta(podTemplateRef, { description: "The pod template in use." }).optional(),
  podTemplateGeneration: int64Field("The generation of that template.").optional(),
  replicas: int32Field("The number of chunks.").optional(),
  provisioningStrategy: stringField("The strategy in use.").optional(),
  conditions: conditionListSchema.optional(),
});

/** `autoscaling.x-k8s.io/v1beta1` CapacityBuffer. (01 §1.5) */
export const capacityBufferSchema = () =>
  objectSchema(
    { spec, status: status.optional() },
    { description: "A CapacityBuffer keeps capacity for pods that do not exist yet." },
  );

export type CapacityBuffer = Stored<z.output<ReturnType<typeof capacityBufferSchema>>>;
/** As people write it: what has a default may be left out. */
export type CapacityBufferInput = Stored<z.input<ReturnType<typeof capacityBufferSchema>>>;
