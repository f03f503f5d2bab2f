import { isRecord } from "../object.ts";
import type { Path } from "../problem.ts";
import { bootstrapTwice, fillGaps } from "./class-gaps.ts";
import { images } from "./class-images.ts";
import { at, type Draft } from "./draft.ts";
import type { ConversionOptions } from "./outcome.ts";
import { selectorTerms } from "./selectors.ts";

const copied = [
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

/** Names under which a launch template of one's own could be given. */
const launchTemplates = ["launchTemplate", "launchTemplateName"] as const;
/** The inline form says what it is; capacity types become a requirement of the pool. */
const elsewhere = ["amiFamily", "apiVersion", "kind", "capacityTypes"] as const;
const known = new Set<string>([...copied, ...selectors.map(([from]) => from), ...launchTemplates, ...elsewhere]);

/** The spec of a v1alpha1 AWSNodeTemplate, or of a Provisioner's inline `provider`, to that of a v1 EC2NodeClass. (01 §7.8) */
export function classFromTemplate(draft: Draft, { base, options }: { base: Path; options: ConversionOptions }): void {
  if (!draft.isObject(base)) return;
  for (const field of copied) draft.carry([...base, field], ["spec", field]);
  for (const [from, to] of selectors) selectorTerms(draft, { from: [...base, from], to: ["spec", to] });
  const source = { family: [...base, "amiFamily"], terms: [...base, "amiSelector"] };
  const family = draft.said(source.family) ?? "AL2";
  images(draft, { source, family });
  fillGaps(draft, { base, options });
  bootstrapTwice(draft, { base, family });
  refuseLaunchTemplates(draft, base);
  dropUnknown(draft, { base, known });
}

export function awsNodeTemplate(draft: Draft, options: ConversionOptions): void {
  classFromTemplate(draft, { base: at("spec"), options });
}

function refuseLaunchTemplates(draft: Draft, base: Path): void {
  for (const field of launchTemplates) {
    if (draft.said([...base, field]) === undefined) continue;
    draft.refuse({
      code: "not-convertible",
      rule: "01 §7.8",
      path: [...base, field],
      message: "v1 makes its launch templates itself; one of your own cannot be converted",
      expected: "its settings as fields: amiSelector, userData, blockDeviceMappings, securityGroupSelector",
    });
  }
}

/** A field no version had: gone in lenient mode with a word, an error in strict mode. */
export function dropUnknown(draft: Draft, { base, known }: { base: Path; known: ReadonlySet<string> }): void {
  const spec = draft.said(base);
  if (!isRecord(spec)) return;
  for (const field of Object.keys(spec)) {
    if (known.has(field) || spec[field] === null) continue;
    draft.assume({
      code: "field-dropped",
      path: [...base, field],
      message: "dropped: it is not a field of this kind",
      advice: "remove it",
      instead: {
        code: "unknown-field",
        rule: "01 §7.8",
        message: "is not a known field",
        expected: [...known].sort().join(", "),
      },
    });
  }
}
