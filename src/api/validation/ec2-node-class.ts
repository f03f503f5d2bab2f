import { awsLabels, awsTags, labels } from "../labels.ts";
import type { Problem } from "../problem.ts";
import { type AmiSelection, amiAliasOf } from "./ami-family.ts";
import { shortText } from "./names.ts";

const clusterTag = /^kubernetes\.io\/cluster\/[0-9A-Za-z][A-Za-z0-9\-_]*$/;
const reservedTags: readonly string[] = [awsTags.clusterName, labels.nodePool, awsTags.nodeClaim, awsLabels.nodeClass];

/** Users may not set the tags by which Karpenter finds its instances. (01 §1.6.2) */
export function tagProblems(tags: Readonly<Record<string, string>> | undefined): readonly Problem[] {
  return Object.keys(tags ?? {})
    .filter((key) => reservedTags.includes(key) || clusterTag.test(key))
    .map((key) => ({
      code: "restricted-tag",
      path: ["spec", "tags", key],
      message: `tag ${shortText(key)} is set by Karpenter on what it creates; remove it`,
      rule: "01:EC15",
    }));
}

interface SelectorTerm {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
}

interface ReservationTerm extends SelectorTerm {
  readonly ownerID?: string | undefined;
  readonly instanceMatchCriteria?: string | undefined;
}

interface TermSelection {
  readonly subnetSelectorTerms?: readonly SelectorTerm[] | undefined;
  readonly securityGroupSelectorTerms?: readonly SelectorTerm[] | undefined;
  readonly capacityReservationSelectorTerms?: readonly ReservationTerm[] | undefined;
}

/** Terms that admission lets through though some of their fields are not used. (01 §1.6.2, 04 §9.7-1) */
export function mixedTermProblems(spec: TermSelection): readonly Problem[] {
  return [
    ...(spec.subnetSelectorTerms ?? []).flatMap((term, index) => ignoredFields("subnetSelectorTerms", index, term)),
    ...(spec.securityGroupSelectorTerms ?? []).flatMap((term, index) =>
      ignoredFields("securityGroupSelectorTerms", index, term),
    ),
    ...(spec.capacityReservationSelectorTerms ?? []).flatMap(joinedReservationFields),
  ];
}

/** An id wins over a name, a name over tags. */
function ignoredFields(field: string, index: number, { id, name, tags }: SelectorTerm): readonly Problem[] {
  const [used, ...ignored] = Object.entries({ id, name, tags }).flatMap(([key, value]) =>
    value === undefined ? [] : [key],
  );
  if (used === undefined || ignored.length === 0) return [];
  const message = `only ${used} is used and ${ignored.join(" and ")} ignored; put them into terms of their own`;
  return [{ code: "invalid-value", path: ["spec", field, index], message, rule: "04 §9.7-1" }];
}

/** A reservation term with an id selects by id and, besides, by its other fields. */
function joinedReservationFields(
  { id, tags, instanceMatchCriteria }: ReservationTerm,
  index: number,
): readonly Problem[] {
  if (id === undefined || (tags === undefined && instanceMatchCriteria === undefined)) return [];
  const message = "selects the reservation of this id and all that match the other fields; use two terms";
  const path = ["spec", "capacityReservationSelectorTerms", index];
  return [{ code: "invalid-value", path, message, rule: "04 §9.7-1" }];
}

const lastMinorOfAl2 = 32;
const firstMinorOfWindows2025 = 35;

/** The message of `AMIsReady=False/UnsupportedAlias`: images not published for a Kubernetes release. */
export function aliasProblem(spec: AmiSelection, { minor }: { readonly minor: number }): Problem | undefined {
  const family = amiAliasOf(spec)?.family;
  if (family === "al2" && minor > lastMinorOfAl2) {
    return unsupported(
      `AL2 images end with Kubernetes 1.${lastMinorOfAl2} and this cluster runs 1.${minor}; use al2023`,
    );
  }
  if (family === "windows2025" && minor < firstMinorOfWindows2025) {
    return unsupported(
      `Windows 2025 images begin with Kubernetes 1.${firstMinorOfWindows2025} and this cluster runs 1.${minor}; use windows2022`,
    );
  }
  return undefined;
}

function unsupported(message: string): Problem {
  return { code: "invalid-value", path: ["spec", "amiSelectorTerms"], message, rule: "01 §1.6.2" };
}
