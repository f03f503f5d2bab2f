import * as z from "zod";
import { conditionListSchema } from "./condition.ts";
import {
  celRules,
  int32Field,
  int64Field,
  objectSchema,
  resourceListField,
  type Stored,
  stringField,
  withMeta,
} from "./schema-fields.ts";

export const defaultProvisioningStrategy = "buffer.x-k8s.io/active-capacity";

const nonEmptyString = (description: string) => withMeta(z.string().min(1), { description });
const podTemplateRef = z.object({ name: nonEmptyString("A PodTemplate in the same namespace.") });

const spec = withMeta(
  z.object({
    provisioningStrategy: stringField("How the buffer is provisioned.").default(defaultProvisioningStrategy),
    podTemplateRef: withMeta(podTemplateRef, {
      description: "The pod one chunk of the buffer is as large as.",
    }).optional(),
    scalableRef: withMeta(
      z.object({
        apiGroup: stringField("Empty or `apps`.").optional(),
        kind: nonEmptyString("Deployment, StatefulSet or ReplicaSet."),
        name: nonEmptyString("The name of the workload."),
      }),
      { description: "The workload one chunk of the buffer is as large as a pod of." },
    ).optional(),
    replicas: int32Field("A fixed number of chunks.", z.number().min(0)).optional(),
    percentage: int32Field("Chunks as a percentage of the workload's replicas.", z.number().min(0)).optional(),
    limits: resourceListField("The most the whole buffer may ask for.").optional(),
  }),
  {
    description: "How much room is kept free, and for what.",
    ...celRules(
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
  },
);

const status = withMeta(
  z.object({
    podTemplateRef: withMeta(podTemplateRef, { description: "The pod template in use." }).optional(),
    podTemplateGeneration: int64Field("The generation of that template.").optional(),
    replicas: int32Field("How many chunks are kept.").optional(),
    provisioningStrategy: stringField("The strategy in use.").optional(),
    conditions: conditionListSchema.optional(),
  }),
  { description: "What is known of the buffer." },
);

/** `autoscaling.x-k8s.io/v1beta1` CapacityBuffer. (01 §1.5) */
export const capacityBufferSchema = () =>
  objectSchema(
    {
      spec,
      status: status.optional(),
    },
    { description: "A CapacityBuffer keeps room for pods that do not exist yet." },
  );

export type CapacityBuffer = Stored<z.output<ReturnType<typeof capacityBufferSchema>>>;
