import type { Path } from "../../../api/problem.ts";
import { dnsLabelError, dnsSubdomainError } from "../../../api/validation/names.ts";
import { type Cause, invalidValue, required, unsupportedValue } from "../../api/failures.ts";
import { rfc3339 } from "../../api/times.ts";
import { child, type Draft, defaultTo, type Json, listAt, recordAt, textAt } from "../draft.ts";
import type { World } from "../kind.ts";
import type { Traits } from "./built-in.ts";
import { immutable } from "./workloads.ts";

export const customResourceDefinitionTraits: Traits = {
  countsGenerations: true,
  hasStatus: true,
  needsVersionToUpdate: true,
  defaults: (draft) => {
    const spec = child(draft, "spec");
    const names = child(spec, "names");
    const kind = textAt(names, "kind");
    defaultTo(names, { singular: kind.toLowerCase(), listKind: `${kind}List` });
    defaultTo(child(spec, "conversion"), { strategy: "None" });
  },
  prepareCreate: (draft, world) => {
    draft.status = acceptance(draft, world);
  },
  prepareUpdate: (draft, old, world) => {
    const status = child(draft, "status");
    const stored = storedVersion(draft);
    const known = Array.isArray(status["storedVersions"]) ? status["storedVersions"] : [];
    if (!known.includes(stored)) status["storedVersions"] = [...known, stored];
    if (draft.metadata.deletionTimestamp !== undefined) return;
    const isRefused = listAt(old.status, "conditions").some(({ status }) => status === "False");
    if (isRefused) draft.status = acceptance(draft, world);
    else status["acceptedNames"] = { ...recordAt(draft.spec, "names") };
  },
  check: (draft, old) => [
    ...namesCauses(draft),
    ...versionsCauses(draft),
    ...immutable(draft, old, { path: ["spec", "group"] }),
    ...immutable(draft, old, { path: ["spec", "scope"] }),
    ...immutable(draft, old, { path: ["spec", "names", "plural"] }),
    ...immutable(draft, old, { path: ["spec", "names", "kind"] }),
  ],
};

/** Names are taken by whoever came first; a definition without its names is not served. */
function acceptance(draft: Draft, { now, list }: World): Json {
  const taken = takenName(draft, list);
  const at = rfc3339(now);
  const accepted = {
    type: "NamesAccepted",
    status: taken === undefined ? "True" : "False",
    lastTransitionTime: at,
    reason: taken === undefined ? "NoConflicts" : "NameConflict",
    message: taken === undefined ? "no conflicts found" : `${JSON.stringify(taken)} is already in use`,
  };
  const established = {
    type: "Established",
    status: accepted.status,
    lastTransitionTime: at,
    reason: taken === undefined ? "InitialNamesAccepted" : "NotAccepted",
    message: taken === undefined ? "the initial names have been accepted" : "not all names are accepted",
  };
  return {
    conditions: [accepted, established],
    acceptedNames: taken === undefined ? { ...recordAt(draft.spec, "names") } : { plural: "", kind: "" },
    storedVersions: [storedVersion(draft)],
  };
}

function storedVersion(draft: Draft): string {
  return textAt(
    listAt(draft.spec, "versions").find(({ storage }) => storage === true),
    "name",
  );
}

function takenName(draft: Draft, list: World["list"]): string | undefined {
  const namesOf = (names: Json | undefined): readonly string[] => {
    const shortNames = names?.["shortNames"];
    const short = Array.isArray(shortNames) ? shortNames.map(String) : [];
    return [
      textAt(names, "plural"),
      textAt(names, "singular"),
      textAt(names, "kind"),
      textAt(names, "listKind"),
      ...short,
    ];
  };
  const others = list("customresourcedefinitions.apiextensions.k8s.io")
    .filter(
      ({ metadata, spec }) =>
        metadata.name !== draft.metadata.name && textAt(spec, "group") === textAt(draft.spec, "group"),
    )
    .flatMap(({ spec }) => namesOf(recordAt(spec, "names")));
  return namesOf(recordAt(draft.spec, "names")).find((name) => others.includes(name));
}

function namesCauses(draft: Draft): readonly Cause[] {
  const spec = draft.spec ?? {};
  const [group, plural, kind] = [textAt(spec, "group"), textAt(spec, "names", "plural"), textAt(spec, "names", "kind")];
  const causes: Cause[] = [];
  if (group === "") causes.push(required(["spec", "group"]));
  else {
    const error =
      dnsSubdomainError(group) ?? (group.includes(".") ? undefined : "should be a domain with at least one dot");
    if (error !== undefined) causes.push(invalidValue(["spec", "group"], group, error));
  }
  if (plural === "") causes.push(required(["spec", "names", "plural"]));
  else if (dnsLabelError(plural) !== undefined) {
    causes.push(invalidValue(["spec", "names", "plural"], plural, dnsLabelError(plural) ?? ""));
  }
  if (kind === "") causes.push(required(["spec", "names", "kind"]));
  const scope = textAt(spec, "scope");
  if (scope !== "Cluster" && scope !== "Namespaced") {
    causes.push(unsupportedValue(["spec", "scope"], scope, ["Cluster", "Namespaced"]));
  }
  const expected = `${plural}.${group}`;
  if (causes.length === 0 && draft.metadata.name !== expected) {
    const because = 'must be spec.names.plural+"."+spec.group';
    causes.push(invalidValue(["metadata", "name"], draft.metadata.name, because));
  }
  return causes;
}

function versionsCauses(draft: Draft): readonly Cause[] {
  const versions = listAt(draft.spec, "versions");
  const path: Path = ["spec", "versions"];
  if (versions.length === 0) return [required(path)];
  const stored = versions.filter((version) => version["storage"] === true);
  const causes: Cause[] = [];
  if (stored.length !== 1) {
    causes.push(invalidValue(path, "", "must have exactly one version marked as storage version"));
  }
  for (const [index, version] of versions.entries()) causes.push(...versionCauses(version, [...path, index]));
  return causes;
}

function versionCauses(version: Json, path: Path): readonly Cause[] {
  const name = textAt(version, "name");
  const error = name === "" ? undefined : dnsLabelError(name);
  if (name === "") return [required([...path, "name"])];
  if (error !== undefined) return [invalidValue([...path, "name"], name, error)];
  const schema = recordAt(version, "schema", "openAPIV3Schema");
  const at = [...path, "schema", "openAPIV3Schema"];
  if (schema === undefined) return [required(at, "schemas are required")];
  if (textAt(schema, "type") !== "object")
    return [invalidValue([...at, "type"], schema["type"], "must be object at the root")];
  const scale = recordAt(version, "subresources", "scale");
  if (scale === undefined) return [];
  return ["specReplicasPath", "statusReplicasPath"].flatMap((field) => {
    const text = textAt(scale, field);
    const where = [...path, "subresources", "scale", field];
    if (text === "") return [required(where)];
    return /^(\.[A-Za-z0-9_-]+)+$/.test(text)
      ? []
      : [invalidValue(where, text, "must be a json path under .spec or .status")];
  });
}
