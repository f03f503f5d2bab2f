import type { ServedKind, Subresource, Verb } from "../kinds/served-kind.ts";

/** A group with its versions, preferred first, and their kinds. */
export interface ServedGroup {
  readonly group: string;
  readonly versions: readonly ServedVersion[];
}

export interface ServedVersion {
  readonly version: string;
  readonly kinds: readonly ServedKind[];
}

/** Groups in the order their first kind was registered. */
export function groupsOf(kinds: readonly ServedKind[]): readonly ServedGroup[] {
  const groups = new Map<string, Map<string, ServedKind[]>>();
  for (const kind of kinds) {
    const versions = groups.get(kind.group) ?? new Map<string, ServedKind[]>();
    groups.set(kind.group, versions);
    versions.set(kind.version, [...(versions.get(kind.version) ?? []), kind]);
  }
  return [...groups].map(([group, versions]) => ({
    group,
    versions: [...versions]
      .map(([version, ofVersion]) => ({ version, kinds: ofVersion }))
      .sort((a, b) => compareVersions(a.version, b.version)),
  }));
}

const stability = ["", "beta", "alpha"];

/** Stable before beta before alpha, newer before older, anything else last by name. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => /^v(\d{1,9})(?:(alpha|beta)(\d{1,9}))?$/.exec(text));
  if (left == null || right == null) return left == null && right == null ? (a < b ? -1 : 1) : left == null ? 1 : -1;
  const byStability = stability.indexOf(left[2] ?? "") - stability.indexOf(right[2] ?? "");
  if (byStability !== 0) return byStability;
  return Number(right[1]) - Number(left[1]) || Number(right[3] ?? 0) - Number(left[3] ?? 0);
}

interface SubresourceDiscovery {
  readonly verbs: readonly Verb[];
  /** The kind of the subresource, if it is not the object itself. */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
}

const writeVerbs: readonly Verb[] = ["get", "patch", "update"];

const subresourceDiscoveries: Readonly<Record<Subresource, SubresourceDiscovery>> = {
  status: { verbs: writeVerbs },
  scale: { verbs: writeVerbs, kind: { group: "autoscaling", version: "v1", kind: "Scale" } },
  eviction: { verbs: ["create"], kind: { group: "policy", version: "v1", kind: "Eviction" } },
  binding: { verbs: ["create"], kind: { group: "", version: "v1", kind: "Binding" } },
  log: { verbs: ["get"] },
  finalize: { verbs: ["update"] },
  approval: { verbs: writeVerbs },
  token: { verbs: ["create"], kind: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" } },
  resize: { verbs: writeVerbs },
  ephemeralcontainers: { verbs: writeVerbs },
};

/** Aggregated discovery: all groups in one response, as `APIGroupDiscoveryList`. (05 §1) */
export function aggregatedDiscovery(groups: readonly ServedGroup[], version: string): unknown {
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map(({ group, versions }) => ({
      metadata: { name: group, creationTimestamp: null },
      versions: versions.map((one) => ({
        version: one.version,
        resources: one.kinds.map(resourceDiscovery),
        freshness: "Current",
      })),
    })),
  };
}

function resourceDiscovery(served: ServedKind): unknown {
  const { group, version, kind, plural, singular, namespaced, verbs, shortNames, categories } = served;
  return {
    resource: plural,
    responseKind: { group, version, kind },
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(served.subresources.length > 0 && {
      subresources: served.subresources.map((subresource) => {
        const answer = subresourceDiscoveries[subresource];
        return { subresource, responseKind: answer.kind ?? { group, version, kind }, verbs: answer.verbs };
      }),
    }),
  };
}

/** `/apis` for clients that do not use aggregated discovery. */
export function apiGroupList(groups: readonly ServedGroup[]): unknown {
  return { kind: "APIGroupList", apiVersion: "v1", groups: groups.map((group) => groupEntry(group)) };
}

export function apiGroup(group: ServedGroup): unknown {
  return { kind: "APIGroup", apiVersion: "v1", ...groupEntry(group) };
}

function groupEntry({ group, versions }: ServedGroup): Readonly<Record<string, unknown>> {
  const entries = versions.map(({ version }) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: entries, preferredVersion: entries[0] };
}

/** `/api/v1` and `/apis/<group>/<version>`; `kubectl drain` looks for `pods/eviction` here. (05 §2) */
export function apiResourceList({ group, version, kinds }: ServedVersion & { readonly group: string }): unknown {
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: group === "" ? version : `${group}/${version}`,
    resources: kinds.flatMap((served) => [
      resourceEntry(served),
      ...served.subresources.map((subresource) => subresourceEntry(served, subresource)),
    ]),
  };
}

function resourceEntry({ plural, singular, namespaced, kind, verbs, shortNames, categories }: ServedKind): unknown {
  return {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
  };
}

function subresourceEntry({ plural, namespaced, kind }: ServedKind, subresource: Subresource): unknown {
  const answer = subresourceDiscoveries[subresource];
  return {
    name: `${plural}/${subresource}`,
    singularName: "",
    namespaced,
    ...(answer.kind === undefined ? { kind } : answer.kind),
    verbs: answer.verbs,
  };
}
