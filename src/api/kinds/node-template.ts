import * as z from "zod";
import type { Provider } from "../label-policy.ts";
import type { CelRule } from "../structural/schema.ts";
import { defaultExpireAfter, requirementOperators } from "../vocabulary.ts";
import { requirementKeyRules } from "./label-rules.ts";
import { schemaPatterns } from "./patterns.ts";
import { atomicList, celRules, dateTimeField, enumField, objectField, stringField, withMeta } from "./schema-fields.ts";

/** The fields pools, claims and overlays share: taints, requirements, node class. */

const taint = z.object({
  key: withMeta(z.string().min(1), { description: "The taint key.", pattern: schemaPatterns.qualifiedName }),
  value: stringField("The taint value.", { pattern: schemaPatterns.qualifiedName }).optional(),
  effect: enumField("What happens to pods that do not tolerate the taint.", [
    "NoSchedule",
    "PreferNoSchedule",
    "NoExecute",
  ]),
  timeAdded: dateTimeField("When the taint was added.").optional(),
});

export function taintListSchema(description: string) {
  return withMeta(z.array(taint), { description, ...atomicList });
}

const integerRule: CelRule = {
  id: "NP14",
  rule: 'self.all(item, !(item.operator in ["Gt", "Lt", "Gte", "Lte"]) || (has(item.values) && size(item.values) == 1 && item.values[0] != "" && int(item.values[0]) >= 0))',
  message: "requirements with operator Gt, Lt, Gte or Lte need exactly one value, an integer not below 0",
};

const minValuesRule: CelRule = {
  id: "NP15",
  rule: 'self.all(item, !(item.operator == "In" && has(item.minValues)) || (has(item.values) && size(item.values) >= item.minValues))',
  message: "requirements with operator In and minValues must list at least that many values",
};

function valuesNeededBy(operator: "In" | "NotIn"): CelRule {
  return {
    id: operator === "In" ? "NP13" : "NO-NotIn",
    rule: `self.all(item, item.operator != "${operator}" || (has(item.values) && size(item.values) > 0))`,
    message: `requirements with operator ${operator} must list at least one value`,
  };
}

const requirementFields = {
  operator: enumField("How the label relates to the values.", requirementOperators),
  // As upstream on the list itself, where they have no effect; values are checked at run time. (01 §4.1)
  values: withMeta(z.array(z.string()), {
    description: "Values: one or more for In, none for Exists and DoesNotExist, one integer for Gt, Lt, Gte and Lte.",
    maxLength: 63,
    pattern: schemaPatterns.labelValue,
    ...atomicList,
  }).optional(),
};

function requirementKey(keyRuleList: readonly CelRule[]) {
  return withMeta(z.string().max(316), {
    description: "The label key.",
    pattern: schemaPatterns.qualifiedName,
    ...celRules(...keyRuleList),
  });
}

/** Requirements of pools and claims, which may ask for flexibility with minValues. */
export function requirementListSchema(provider: Provider, usage: "pool-requirement" | "claim-requirement") {
  const item = z.object({
    key: requirementKey(requirementKeyRules(provider, usage)),
    ...requirementFields,
    minValues: withMeta(z.number().int().min(1).max(50), {
      description: "How many distinct values must remain possible, so that launches stay flexible.",
    }).optional(),
  });
  return withMeta(z.array(item).max(100), {
    description: "Requirements on nodes; all must be satisfied.",
    ...atomicList,
    ...celRules(valuesNeededBy("In"), integerRule, minValuesRule),
  });
}

/** Requirements of overlays: no minValues, and NotIn needs a value too. */
export function overlayRequirementListSchema(provider: Provider) {
  const item = z.object({
    key: requirementKey(requirementKeyRules(provider, "overlay-requirement")),
    ...requirementFields,
  });
  return withMeta(z.array(item).max(100), {
    description: "Which instance types and offerings the overlay applies to; all must be satisfied.",
    ...atomicList,
    ...celRules(valuesNeededBy("In"), valuesNeededBy("NotIn"), integerRule),
  });
}

function refField(id: string, name: string, extra: { readonly pattern?: string } = {}) {
  return stringField(`The ${name} of the node class.`, {
    ...extra,
    ...celRules({ id, rule: 'self != ""', message: `${name} may not be empty` }),
  });
}

/** A claim's spec cannot change at all, so only pools need the transition rules. */
export function nodeClassRefSchema(transitions: readonly CelRule[]) {
  return objectField(
    "The provider's node class, which configures instances.",
    {
      group: refField("NP18", "group", { pattern: schemaPatterns.apiGroup }),
      kind: refField("NP19", "kind"),
      name: refField("NP20", "name"),
    },
    transitions.length > 0 ? celRules(...transitions) : {},
  );
}

export const expireAfterSchema = stringField("The maximum lifetime of a node, or Never.", {
  pattern: schemaPatterns.durationOrNever,
}).default(defaultExpireAfter);

export const terminationGracePeriodSchema = stringField(
  "How long a node may drain before it is terminated regardless of its pods.",
  { pattern: schemaPatterns.duration },
);
