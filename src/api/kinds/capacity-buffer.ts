import * as z from "zod";
import { conditions } from "./condition.ts";
import { int32, int64, meta, resource, resourceList, rules, type Stored, text } from "./fields.ts";

export const defaultProvisioningStrategy = "buffer.x-k8s.io/active-capacity";

const named = (description: string) => meta(z.string().min(1), { description });
const podTemplateRef = z.object({ name: named("A PodTemplate in the same namespace.") });

const spec = meta(
  z.object({
    provisioningStrategy: text("How the buffer is provisioned.").default(defaultProvisioningStrategy),
    podTemplateRef: meta(podTemplateRef, { description: "The pod one chunk of the buffer is as large as." }).optional(),
    scalableRef: meta(
      z.object({
        apiGroup: text("Empty or `apps`.").optional(),
        kind: named("Deployment, StatefulSet or ReplicaSet."),
        name: named("The name of the workload."),
      }),
      { description: "The workload one chunk of the buffer is as large as a pod of." },
    ).optional(),
    replicas: int32("A fixed number of chunks.", z.number().min(0)).optional(),
    percentage: int32("Chunks as a percentage of the workload's replicas.", z.number().min(0)).optional(),
    limits: resourceList("The most the whole buffer may ask for.").optional(),
  }),
  {
    description: "How much room is kept free, and for what.",
    ...rules(
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

const status = meta(
  z.object({
    podTemplateRef: meta(podTemplateRef, { description: "The pod template in use." }).optional(),
    podTemplateGeneration: int64("The generation of that template.").optional(),
    replicas: int32("How many chunks are kept.").optional(),
    provisioningStrategy: text("The strategy in use.").optional(),
    conditions: conditions.optional(),
  }),
  { description: "What is known of the buffer." },
);

/** `autoscaling.x-k8s.io/v1beta1` CapacityBuffer. (01 §1.5) */
export const capacityBuffer = () =>
  resource(
    {
      spec,
      status: status.optional(),
    },
    { description: "A CapacityBuffer keeps room for pods that do not exist yet." },
  );

export type CapacityBuffer = Stored<z.output<ReturnType<typeof capacityBuffer>>>;
