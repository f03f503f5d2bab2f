import * as z from "zod";
import type { Provider } from "../label-policy.ts";
import { consolidationPolicies, defaultBudgetNodes, disruptionReasons } from "../vocabulary.ts";
import { conditionListSchema } from "./condition.ts";
import { labelRules } from "./label-rules.ts";
import {
  expireAfterSchema,
  nodeClassRefSchema,
  requirementListSchema,
  taintListSchema,
  terminationGracePeriodSchema,
} from "./node-template.ts";
import { schemaPatterns } from "./patterns.ts";
import {
  atomicList,
  celRules,
  enumField,
  int32Field,
  int64Field,
  objectField,
  objectSchema,
  resourceListField,
  type Stored,
  stringField,
  stringMapField,
  withMeta,
} from "./schema-fields.ts";

const labelValue = withMeta(z.string().max(63), { pattern: schemaPatterns.labelValue });

const budget = z.object({
  nodes: stringField("How many nodes may be disrupted at once: a number or a percentage, in quotes.", {
    pattern: schemaPatterns.budgetNodes,
  }).default(defaultBudgetNodes),
  schedule: stringField("When the budget starts to apply: a cron schedule in UTC.", {
    pattern: schemaPatterns.budgetSchedule,
  }).optional(),
  duration: stringField("How long it applies after each hit of the schedule.", {
    pattern: schemaPatterns.budgetDuration,
  }).optional(),
  reasons: withMeta(z.array(z.enum(disruptionReasons)).max(50), {
    description: "The reasons it limits; all of them when absent.",
    "x-kubernetes-list-type": "set",
  }).optional(),
});

const disruption = objectField("When and how nodes of this pool are disrupted voluntarily.", {
  consolidationPolicy: enumField(
    "Which nodes may be consolidated: empty ones, underutilized ones too, or those whose saving is worth the disruption.",
    consolidationPolicies,
  ).default("WhenEmptyOrUnderutilized"),
  consolidateAfter: stringField(
    "How long a node must be without pod changes before it may be consolidated, or Never.",
    { pattern: schemaPatterns.durationOrNever },
  ).default("0s"),
  budgets: withMeta(z.array(budget).max(50), {
    description: "Limits on how many nodes are disrupted at once; the strictest active one applies.",
    ...atomicList,
    ...celRules({
      id: "NP4",
      rule: "self.all(budget, has(budget.schedule) == has(budget.duration))",
      message: "schedule and duration must be given together",
    }),
  }).default([{ nodes: defaultBudgetNodes }]),
}).prefault({ consolidateAfter: "0s" });

const template = (provider: Provider) =>
  objectField("The template of the pool's NodeClaims.", {
    metadata: z
      .object({
        labels: withMeta(z.record(z.string(), labelValue), {
          description: "Labels copied to every node; each is a requirement too.",
          maxProperties: 100,
          "x-kubernetes-map-type": "atomic",
          ...celRules(...labelRules(provider)),
        }).optional(),
        annotations: stringMapField("Annotations copied to every node.").optional(),
      })
      .optional(),
    spec: objectField("The spec of every NodeClaim of this pool.", {
      taints: taintListSchema("Taints every node keeps; pods must tolerate them.").optional(),
      startupTaints: taintListSchema(
        "Taints nodes boot with and something else removes; ignored for scheduling.",
      ).optional(),
      requirements: requirementListSchema(provider, "pool-requirement"),
      nodeClassRef: nodeClassRefSchema([
        { id: "NP16", rule: "self.group == oldSelf.group", message: "nodeClassRef.group is immutable" },
        { id: "NP17", rule: "self.kind == oldSelf.kind", message: "nodeClassRef.kind is immutable" },
      ]),
      expireAfter: expireAfterSchema,
      terminationGracePeriod: terminationGracePeriodSchema.optional(),
    }),
  });

const spec = (provider: Provider) =>
  objectField(
    "The nodes the pool may have, and how they are disrupted.",
    {
      template: template(provider),
      disruption,
      limits: resourceListField(
        "The maximum resources of all nodes of the pool; `nodes` limits their number.",
      ).optional(),
      weight: int32Field("Pools of higher weight are tried first.", z.number().min(1).max(100)).optional(),
      replicas: int64Field("A fixed number of nodes, independent of pods.", z.number().min(0)).optional(),
    },
    celRules(
      {
        id: "NP1",
        rule: "has(self.replicas) == has(oldSelf.replicas)",
        message: "a pool cannot change between static (with replicas) and dynamic",
      },
      {
        id: "NP2",
        rule: '!has(self.replicas) || !has(self.limits) || size(self.limits) == 0 || (size(self.limits) == 1 && "nodes" in self.limits)',
        message: "with replicas, limits may hold only nodes",
      },
      { id: "NP3", rule: "!has(self.replicas) || !has(self.weight)", message: "weight has no meaning with replicas" },
    ),
  );

const status = objectField("The observed state of the pool.", {
  resources: resourceListField("The resources of the pool's nodes.").optional(),
  nodes: int64Field("How many nodes the pool has.").default(0),
  nodeClassObservedGeneration: int64Field(
    "The node class generation registration health was judged against.",
  ).optional(),
  conditions: conditionListSchema.optional(),
});

/** `karpenter.sh/v1` NodePool. (01 §1.2) */
export const nodePoolSchema = (provider: Provider) =>
  objectSchema(
    { spec: spec(provider), status: status.optional() },
    {
      description: "A NodePool defines which nodes may be launched for pending pods.",
      ...celRules({
        id: "NP21",
        rule: "!has(self.metadata.name) || size(self.metadata.name) <= 63",
        message: "the name becomes a label value: at most 63 characters",
      }),
    },
  );

export type NodePool = Stored<z.output<ReturnType<typeof nodePoolSchema>>>;
/** As people write it: what has a default may be left out. */
export type NodePoolInput = Stored<z.input<ReturnType<typeof nodePoolSchema>>>;
