import type { PodSpec } from "../../src/api/kubernetes/pod.ts";
import { keys } from "./names.ts";
import type { DifferentialProblem, PlainObject, RequirementItem } from "./problem.ts";

/** Something we do otherwise than upstream on purpose, and how a problem looks in which it cannot be seen. */
export interface DeliberateDifference {
  /** As docs/designs/differences.md names it. */
  readonly row: string;
  /** The problem without what makes the difference; the same problem if there is no such thing in it. */
  readonly avoid: (problem: DifferentialProblem) => DifferentialProblem;
}

const tolerateSoftTaints = { operator: "Exists", effect: "PreferNoSchedule" };

export const deliberateDifferences: readonly DeliberateDifference[] = [
  {
    row: "groups made by relaxation (02:X-10)",
    // A pod that tolerates soft taints from the start, and has one node affinity term, keeps its groups.
    avoid: editPodSpecs((spec) =>
      spec.topologySpreadConstraints === undefined
        ? spec
        : { ...withLastTermOnly(spec), tolerations: [...(spec.tolerations ?? []), tolerateSoftTaints] },
    ),
  },
  {
    row: "identity of a spread (02:X-5)",
    // Without minDomains and with node affinity ignored, equal groups are equal for both.
    avoid: editPodSpecs((spec) => ({
      ...spec,
      ...(spec.topologySpreadConstraints && {
        topologySpreadConstraints: spec.topologySpreadConstraints.map(({ minDomains: _, ...constraint }) => ({
          ...constraint,
          nodeAffinityPolicy: "Ignore",
        })),
      }),
    })),
  },
  {
    row: "the limit of `nodes` (02:H-3)",
    avoid: editObjects("NodePool", (pool) => {
      const { limits = {}, ...spec } = pool["spec"] as { limits?: Readonly<Record<string, string>> };
      const { nodes, ...rest } = limits;
      if (nodes === undefined) return pool;
      return { ...pool, spec: { ...spec, limits: rest } };
    }),
  },
  {
    row: "constraints without a selector (02:X-9)",
    avoid: (problem) =>
      withText(problem, (text) => text.replace(/"topologyKey":"[^"]*"(?![^{}]*"labelSelector")/g, selectNothing)),
  },
  { row: "alternative node affinity terms of a daemon (02:G-1, E-4)", avoid: editDaemonSpecs(withLastTermOnly) },
  {
    row: "excluded values as domains (02:X-1)",
    avoid: editObjects("NodePool", (pool) => {
      const spec = pool["spec"] as { template: { spec: { requirements: readonly RequirementItem[] } } };
      const requirements = spec.template.spec.requirements.filter(({ operator }) => operator !== "NotIn");
      return {
        ...pool,
        spec: { ...spec, template: { ...spec.template, spec: { ...spec.template.spec, requirements } } },
      };
    }),
  },
  {
    row: "excluded values and anti-affinity (02:X-40)",
    avoid: editPodSpecs((spec) => JSON.parse(JSON.stringify(spec, withoutExclusions)) as PodSpec),
  },
  {
    row: "contradicting topology rules (02:X-20)",
    avoid: (problem) => ({ ...problem, objects: problem.objects.map(withTopologyLabels) }),
  },
  { row: "volumes that cannot be looked up (02:W-4)", avoid: withKnownVolumes },
  { row: "overlays (02:O-7)", avoid: (problem) => withoutKind(problem, "NodeOverlay") },
];

function selectNothing(topologyKey: string): string {
  return `${topologyKey},"labelSelector":{"matchLabels":{"nobody":"has-it"}}`;
}

function withText(problem: DifferentialProblem, change: (text: string) => string): DifferentialProblem {
  return { ...problem, objects: JSON.parse(change(JSON.stringify(problem.objects))) as readonly PlainObject[] };
}

function withoutKind(problem: DifferentialProblem, kind: string): DifferentialProblem {
  return { ...problem, objects: problem.objects.filter((object) => object.kind !== kind) };
}

function editObjects(kind: string, edit: (object: PlainObject) => PlainObject) {
  return (problem: DifferentialProblem): DifferentialProblem => ({
    ...problem,
    objects: problem.objects.map((object) => (object.kind === kind ? edit(object) : object)),
  });
}

interface Templated {
  readonly template: { readonly spec: PodSpec };
}

/** Edits the specs of pods that are to be placed. */
function editPodSpecs(edit: (spec: PodSpec, owner: PlainObject) => PodSpec) {
  return (problem: DifferentialProblem): DifferentialProblem => ({
    ...problem,
    objects: problem.objects.map((object) => {
      if (object.kind === "Pod") return { ...object, spec: edit(object["spec"] as PodSpec, object) };
      return object.kind === "Deployment" ? editTemplate(object, (spec) => edit(spec, object)) : object;
    }),
  });
}

function editDaemonSpecs(edit: (spec: PodSpec) => PodSpec) {
  return editObjects("DaemonSet", (object) => editTemplate(object, edit));
}

function editTemplate(object: PlainObject, edit: (spec: PodSpec) => PodSpec): PlainObject {
  const { template, ...spec } = object["spec"] as Templated;
  return { ...object, spec: { ...spec, template: { ...template, spec: edit(template.spec) } } };
}

/** Without volumes whose claims do not exist. */
function withKnownVolumes(problem: DifferentialProblem): DifferentialProblem {
  const keyOf = ({ metadata }: PlainObject, name: string): string => `${metadata["namespace"] ?? "default"}/${name}`;
  const claims = problem.objects.filter(({ kind }) => kind === "PersistentVolumeClaim");
  const known = new Set(claims.map((claim) => keyOf(claim, claim.metadata.name)));
  return editPodSpecs(({ volumes, ...spec }, owner) => ({
    ...spec,
    ...(volumes && {
      volumes: volumes.filter(({ persistentVolumeClaim }) => {
        return persistentVolumeClaim === undefined || known.has(keyOf(owner, persistentVolumeClaim.claimName));
      }),
    }),
  }))(problem);
}

function withLastTermOnly(spec: PodSpec): PodSpec {
  const nodeAffinity = spec.affinity?.nodeAffinity;
  const terms = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (terms.length < 2) return spec;
  const required = { nodeSelectorTerms: terms.slice(-1) };
  return {
    ...spec,
    affinity: {
      ...spec.affinity,
      nodeAffinity: { ...nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required },
    },
  };
}

function withoutExclusions(key: string, value: unknown): unknown {
  if (key !== "matchExpressions" || !Array.isArray(value)) return value;
  return value.filter((item: RequirementItem) => item.operator !== "NotIn");
}

/** A node without one of these labels is where contradictions go unnoticed upstream. */
function withTopologyLabels(object: PlainObject): PlainObject {
  if (object.kind !== "Node" && object.kind !== "NodeClaim") return object;
  const known = object.metadata["labels"] as Readonly<Record<string, string>> | undefined;
  const missing = {
    [keys.zone]: "test-zone-a",
    [keys.capacityType]: "on-demand",
    [keys.team]: "red",
    [keys.rack]: "r1",
  };
  return { ...object, metadata: { ...object.metadata, labels: { ...missing, ...known } } };
}
