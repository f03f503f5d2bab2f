import { isRecord } from "../object.ts";
import type { FieldPath } from "../problem.ts";
import type { ConversionOptions } from "./conversion.ts";
import type { ConversionDraft } from "./conversion-draft.ts";
import { fillNodeClassGaps, warnDoubleBootstrap } from "./node-class-gaps.ts";
import { convertImages } from "./node-class-images.ts";
import { convertSelectorTerms } from "./selectors.ts";

const copiedFields = [
  "instanceProfile",
  "userData",
  "tags",
  "context",
  "detailedMonitoring",
  "metadataOptions",
  "blockDeviceMappings",
] as const;

const selectors = [
  ["subnetSelector", "subnetSelectorTerms"],
  ["securityGroupSelector", "securityGroupSelectorTerms"],
  ["amiSelector", "amiSelectorTerms"],
] as const;

/** Fields that could name a custom launch template. */
const launchTemplates = ["launchTemplate", "launchTemplateName"] as const;
/** Type fields of the inline form; capacity types become a requirement of the pool. */
const fieldsHandledElsewhere = ["amiFamily", "apiVersion", "kind", "capacityTypes"] as const;
const knownFields = new Set<string>([
  ...copiedFields,
  ...selectors.map(([from]) => from),
  ...launchTemplates,
  ...fieldsHandledElsewhere,
]);

/** The spec of a v1alpha1 AWSNodeTemplate, or of a Provisioner's inline `provider`, to that of a v1 EC2NodeClass. (01 §7.8) */
export function ec2NodeClassFromTemplateSpec(
  draft: ConversionDraft,
  { base, options }: { base: FieldPath; options: ConversionOptions },
): void {
  if (!draft.checkIsObject(base)) return;
  for (const field of copiedFields) draft.copyField([...base, field], ["spec", field]);
  for (const [from, to] of selectors) convertSelectorTerms(draft, { from: [...base, from], to: ["spec", to] });
  const source = { family: [...base, "amiFamily"], terms: [...base, "amiSelector"] };
  const family = draft.sourceValue(source.family) ?? "AL2";
  convertImages(draft, { source, family });
  fillNodeClassGaps(draft, { base, options });
  warnDoubleBootstrap(draft, { base, family });
  refuseLaunchTemplates(draft, base);
  dropUnknownFields(draft, { base, knownFields });
}

function refuseLaunchTemplates(draft: ConversionDraft, base: FieldPath): void {
  for (const field of launchTemplates) {
    if (draft.sourceValue([...base, field]) === undefined) continue;
    draft.addProblem({
      code: "not-convertible",
      rule: "01 §7.8",
      path: [...base, field],
      message: "v1 creates its own launch templates; a custom launch template cannot be converted",
      expected: "its settings as fields: amiSelector, userData, blockDeviceMappings, securityGroupSelector",
    });
  }
}

/** A field no version had: dropped with a warning in lenient mode, an error in strict mode. */
export function dropUnknownFields(
  draft: ConversionDraft,
  { base, knownFields: known }: { base: FieldPath; knownFields: ReadonlySet<string> },
): void {
  const spec = draft.sourceValue(base);
  if (!isRecord(spec)) return;
  for (const field of Object.keys(spec)) {
    if (known.has(field) || spec[field] === null) continue;
    draft.assume({
      code: "field-dropped",
      path: [...base, field],
      message: "dropped: it is not a field of this kind",
      advice: "remove it",
      strictProblem: {
        code: "unknown-field",
        rule: "01 §7.8",
        message: "is not a known field",
        expected: [...known].sort().join(", "),
      },
    });
  }
}
