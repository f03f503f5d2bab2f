import { isRecord, type KubeObject } from "../../api/object.ts";
import { nodeClassesByKey } from "../../core/scenario/node-classes.ts";
import { canonicalJson } from "../../util/canonical-json.ts";

/** Fields that AWS resolves: whether nodes still match them is not known here. */
const resolvedFields = ["amiSelectorTerms", "subnetSelectorTerms", "securityGroupSelectorTerms"] as const;

/** What a changed EC2NodeClass may do to nodes that only AWS can tell, one sentence each. */
export function classNotes(before: readonly KubeObject[], after: readonly KubeObject[]): readonly string[] {
  const known = nodeClassesByKey(before);
  return [...nodeClassesByKey(after)].flatMap(([key, { kind, metadata, spec }]) => {
    const was = known.get(key)?.spec;
    if (kind !== "EC2NodeClass" || !isRecord(was) || !isRecord(spec)) return [];
    const changed = resolvedFields.filter((field) => canonicalJson(was[field]) !== canonicalJson(spec[field]));
    const name = `EC2NodeClass ${metadata.name ?? ""}`;
    return [
      ...(changed.length === 0
        ? []
        : [`${name}: ${changed.join(", ")} changed; nodes that no longer match drift too, which only AWS can tell`]),
      ...(canonicalJson(was["userData"]) === canonicalJson(spec["userData"])
        ? []
        : [
            `${name}: userData is different or was not read (clusters and snapshots are read without it); if it changes, its nodes drift`,
          ]),
    ];
  });
}
