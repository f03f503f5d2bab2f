import { isRecord, type KubeObject } from "../../api/object.ts";
import { nodeClassKinds, type ScenarioKind, scenarioKind } from "../../core/scenario/scenario-kind.ts";
import { regionOfArn, regionOfPlace, regionOfProviderId } from "../../providers/aws/region-names.ts";

/** A region and the text that names it. */
interface NamedRegion {
  readonly region: string;
  /** `us-east-1a in NodePool web`. */
  readonly where: string;
}

/** The region of a cluster of AWS, as far as objects tell. */
type InferredRegion =
  | { readonly kind: "known"; readonly region: string }
  | { readonly kind: "ambiguous"; readonly named: readonly NamedRegion[] }
  | { readonly kind: "unknown" };

interface RegionSources {
  readonly objects: readonly KubeObject[];
  readonly clusterRegion: string | undefined;
  readonly bookRegion: string | undefined;
}

/** The region that was given, that of the cluster, of the objects, or of the price book; and the zones objects name. */
export function regionOfPlan(
  given: string | undefined,
  { objects, clusterRegion, bookRegion }: RegionSources,
): { readonly region: string; readonly seenZones: readonly string[] } | { readonly question: string } {
  const seenZones = zonesNamedIn(objects);
  const known = given ?? clusterRegion;
  if (known !== undefined) return { region: known, seenZones };
  const inferred = inferRegion(objects);
  if (inferred.kind === "unknown" && bookRegion !== undefined) return { region: bookRegion, seenZones };
  return inferred.kind === "known" ? { region: inferred.region, seenZones } : { question: regionQuestion(inferred) };
}

/** Nodes are where they are; a pool or a volume is where nodes can be; a pod says least. */
const decidingKinds: readonly (readonly ScenarioKind[])[] = [
  ["Node", "NodeClaim"],
  ["EC2NodeClass", "NodePool", "NodeOverlay", "PersistentVolume", "StorageClass"],
];

/** The region that nodes name, else node classes, pools and volumes, else pods. */
function inferRegion(objects: readonly KubeObject[]): InferredRegion {
  const [nodeKinds = [], poolKinds = []] = decidingKinds;
  const ofKinds = (kinds: readonly ScenarioKind[]) => objects.filter((object) => isOneOf(object, kinds));
  const others = objects.filter((object) => !isOneOf(object, [...nodeKinds, ...poolKinds]));
  for (const group of [ofKinds(nodeKinds), ofKinds(poolKinds), others]) {
    const named = firstOfEachRegion(group);
    const [first] = named;
    if (named.length > 1) return { kind: "ambiguous", named };
    if (first !== undefined) return { kind: "known", region: first.region };
  }
  return { kind: "unknown" };
}

/** Every zone that an object names. */
function zonesNamedIn(objects: readonly KubeObject[]): readonly string[] {
  return [...new Set(objects.flatMap((object) => [...placesIn(object)].map(({ text }) => text)))].sort();
}

function isOneOf(object: KubeObject, kinds: readonly ScenarioKind[]): boolean {
  const kind = scenarioKind(object);
  return kind !== undefined && kinds.includes(kind);
}

function firstOfEachRegion(objects: readonly KubeObject[]): readonly NamedRegion[] {
  const found = new Map<string, NamedRegion>();
  for (const object of objects) {
    for (const { region, text } of placesIn(object)) {
      const where = `${text} in ${object.kind} ${object.metadata.name ?? ""}`;
      if (!found.has(region)) found.set(region, { region, where });
    }
  }
  return [...found.values()];
}

interface NamedPlace {
  readonly region: string;
  readonly text: string;
}

/** The zones, regions, provider ids and, in node classes, ARNs of an object. */
function* placesIn(object: KubeObject): Generator<NamedPlace> {
  const kind = scenarioKind(object);
  yield* placesOf(object, { readsArns: kind !== undefined && nodeClassKinds.has(kind) });
}

/** Labels, selectors and fields that name a zone or region, whatever their domain. */
const placeKey = /(^|\/)(zone|region|zone-?id|availabilityZone)$/i;

function* placesOf(value: unknown, options: { readonly readsArns: boolean }): Generator<NamedPlace> {
  if (Array.isArray(value)) {
    for (const item of value) yield* placesOf(item, options);
    return;
  }
  if (typeof value === "string") {
    const region = options.readsArns ? regionOfArn(value) : undefined;
    if (region !== undefined) yield { region, text: value };
    return;
  }
  if (!isRecord(value)) return;
  if (isPlaceRequirement(value)) yield* value.values.flatMap((text) => placeOf(text, regionOfPlace));
  for (const [key, inner] of Object.entries(value)) {
    if (placeKey.test(key)) yield* placeOf(inner, regionOfPlace);
    else if (key === "providerID") yield* placeOf(inner, regionOfProviderId);
    else yield* placesOf(inner, options);
  }
}

/** `{key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a]}` of pools, affinities and volumes. */
function isPlaceRequirement(value: Record<string, unknown>): value is { key: string; values: unknown[] } {
  return typeof value["key"] === "string" && placeKey.test(value["key"]) && Array.isArray(value["values"]);
}

function placeOf(text: unknown, regionOf: (text: string) => string | undefined): readonly NamedPlace[] {
  const region = typeof text === "string" ? regionOf(text) : undefined;
  return region === undefined ? [] : [{ region, text: String(text) }];
}

/** Why the region has to be given, and how. */
function regionQuestion(inferred: Exclude<InferredRegion, { readonly kind: "known" }>): string {
  const give = "give it with --region, for example --region us-east-1";
  if (inferred.kind === "unknown") {
    return `the region of the EC2 instance types is not known: no zone, node or node class in the input names one; ${give}`;
  }
  const named = inferred.named.map(({ region, where }) => `${region} (${where})`).join(", ");
  return `the input names several regions: ${named}; ${give}`;
}
